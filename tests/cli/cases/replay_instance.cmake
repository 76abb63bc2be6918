# Every way a decision may go, the law that comes of it, and a trial with its numbers.
run(1 replay wor_verified_as_iid --instance "p=(0 1 1)/2 q=(2 0 1)/3 K=2" --property exact_law --trial 3)
approved()
