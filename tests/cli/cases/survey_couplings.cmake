# Couplings pass over the vocabulary a draft: 2^27 / (4096 * 4) tuples instead of those asked for.
run(0 survey zipf:vocabulary=4096,positions=2 --verifier gls,single_draft -K 4 --tuples 20000 --json)
says(out "\"verifier\": \"gls\",\n *\"law\": \"gumbel_iid\",\n *\"drafts\": 4,\n *\"verdict\": \"cannot be explored\",\n *\"tuples\": 8192,")
says(out "\"verifier\": \"single_draft\",\n *\"law\": \"iid\",\n *\"drafts\": 1,\n *\"verdict\": \"proved [^\n]*\n *\"tuples\": 20000,")
run(0 survey zipf:vocabulary=4096,positions=2 --verifier gls -K 4 --tuples 20000)
says(out "\n  gls at K = 4: 8,192 tuples, each passing over the vocabulary\n")
says(out " cannot be explored ")
