# Mutants are there to be refuted: that is no failure of a survey.
run(0 survey bernoulli --verifier single_draft,resample_from_target --mutants --tuples 100 --instances 50)
says(out "resample_from_target with iid drafts is refuted")
says(out "replay: draftproof replay resample_from_target --law iid --property exact_law --instance ")
