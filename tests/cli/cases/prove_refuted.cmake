# A mutant: exit code 1, the counterexample with its law, and the line that shows it again. Only this property's block:
# others come and go with their files.
run(1 prove resample_from_target --instance "p=(1 2)/3 q=(1 1)/2 K=1")
string(REGEX MATCH "\n  exact_law violated on[^\n]*\n[^\n]*\n[^\n]*\n" out "${out}")
approved()
