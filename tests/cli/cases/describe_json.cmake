run(0 describe recursive_rejection --json)
approved()
