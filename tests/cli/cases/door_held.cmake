# A registered verifier behind the wire passes the edge tier; the table says how many runs it took.
run(0 check --door own:single_draft --tier edge)
mask("[0-9]+\\.[0-9]+ +\n" "#\n")
approved()
