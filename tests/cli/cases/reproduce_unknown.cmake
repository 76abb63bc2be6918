# Without a name all studies are listed; a name that is none is bad input.
run(0 reproduce)
foreach(name certified_instances curves_in_drafts order_of_schemes two_uniform_drafts worst_cases)
  says(out "${name}")
endforeach()
run(2 reproduce figure_of_eight)
says(err "figure_of_eight")
run(2 reproduce worst_case)
says(err "did you mean worst_cases\\?")
