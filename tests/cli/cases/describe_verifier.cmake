run(0 describe single_draft)
approved()
