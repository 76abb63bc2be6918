# Four curves to K = 8; further on request, and no further than makes sense.
run(0 reproduce curves_in_drafts --effort 64)
says(out "\n *64 ")
run(2 reproduce curves_in_drafts --effort 1025)
says(err "--effort")
run(0 reproduce curves_in_drafts)
approved()
