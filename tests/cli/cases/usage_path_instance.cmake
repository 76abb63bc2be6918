# A model of paths that is none says what stands there; one that the scheme is not defined for is no proof either.
foreach(instance "nonsense" "L=1" "L=0 K=1 [] p=(1 1)/2 q=(1 1)/2" "L=1 K=1 [] p=(1 1)/3 q=(1 1)/2"
        "L=1 K=1 [0] p=(1 1)/2 q=(1 1)/2" "L=1 K=1 [] p=(0 0)/0 q=(1 1)/2" "L=1 K=1 [] p=(1 1)/2 q=(1)/1"
        "L=1 K=1 [] p=(1 1)/2 q=(1 1)/2 [0 1] p=(1 1)/2 q=(1 1)/2" "L=1 K=1 [] p=(1 1)/2 q=(1 1)/2 and more"
        "L=1 K=2 [] p=(1 1)/2 q=(1 1)/2" "p=(1 1)/2 q=(1 1)/2 K=1")
  run(2 prove block --instance ${instance})
  says(err "^draftproof: --instance: found ")
endforeach()
# Whoever names schemes of both levels gives an instance of one.
run(0 prove block single_draft --instance "L=1 K=1 [] p=(1 1)/2 q=(1 1)/2")
silent_on(out "single_draft")
run(0 prove block single_draft --instance "p=(1 1)/2 q=(1 1)/2 K=1")
silent_on(out "block")
run(2 prove block --law iid)
says(err "found no verifier for that draft law")
