# A mutant: exit code 1, the first prefix after which the next token has the wrong law, and the line that shows it
# again. Only this property's block: others come and go with their files.
run(1 prove wor_verified_as_iid_tree --law iid_paths --instance "L=2 K=2 [] p=(1 0 2)/3 q=(0 1 1)/2 [1] p=(1 1 1)/3 q=(1 1 1)/3")
string(REGEX MATCH "\n  completed_law violated on[^\n]*\n[^\n]*\n[^\n]*\n" out "${out}")
approved()
