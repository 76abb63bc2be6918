# An instance that is none says what stands there.
foreach(instance "nonsense" "p=(1 1)/2" "p=(1 1)/3 q=(1 1)/2 K=1" "p=(0 0)/0 q=(1 1)/2 K=1" "p=(1 1)/2 q=(1)/1 K=1"
        "p=(1 -1)/0 q=(1 1)/2 K=1" "p=(1 1)/2 q=(0 1)/1 K=0" "p=(1 1)/2 q=(0 1)/1 K=1000000"
        "p=(1 1)/2 q=(0 1)/1 K=1 and more" "p=(99999999999 1)/2 q=(0 1)/1 K=1" "p=(1 1)/2 q=(0 1)/1 K=3")
  run(2 prove single_draft --instance ${instance})
  says(err "^draftproof: --instance: found ")
endforeach()
