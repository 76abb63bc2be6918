# A model by hand: no context, p = (1 2)/3, q = (2 1)/3, paths of two tokens.
run(0 prove block --instance "L=2 K=1 [] p=(1 2)/3 q=(2 1)/3")
# Properties come and go with their files; branches with them; seconds with the machine.
mask("[0-9]+ of [0-9]+ +1 +[0-9]+ +[0-9]+\\.[0-9]+" "# of # 1 # #")
approved()
