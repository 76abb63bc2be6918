# The same of one iteration on paths.
run(1 replay resample_from_target_path --instance "L=1 K=1 [] p=(1 1)/2 q=(0 1)/1" --property completed_law --trial 0)
approved()
