# A right verifier passes every tier; the table says how much was asked, JSON the same.
run(0 check single_draft --source zipf:vocabulary=100 --json)
says(out "\"schema\": \"draftproof.check/2\"")
foreach(tier proof edge sampled)
  says(out "\"tier\": \"${tier}\",[ \n]*\"status\": \"held\"")
endforeach()
silent_on(out "seconds")
run(0 check sampler/alias_sampler)
says(out "sampler/alias_sampler +edge +held")
