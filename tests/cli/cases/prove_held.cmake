# An instance by hand: p = (1 2)/3, q = (1 1)/2.
run(0 prove single_draft --instance "p=(1 2)/3 q=(1 1)/2 K=1")
# Properties come and go with their files; branches with them; seconds with the machine.
mask("[0-9]+ of [0-9]+ +1 +[0-9]+ +[0-9]+\\.[0-9]+" "# of # 1 # #")
approved()
