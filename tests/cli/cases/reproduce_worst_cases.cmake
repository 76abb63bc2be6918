# Fractions, families and the search at a coarse grid. Where the search ends on a valley's floor is the mathematical
# library's choice: laws are masked, ratios stay.
run(0 reproduce worst_cases --effort 6)
mask("[01]\\.[0-9][0-9][0-9][0-9] [01]\\.[0-9][0-9][0-9][0-9][0-9. ]+ nothing" "... nothing")
approved()
run(2 reproduce worst_cases --effort 201)
