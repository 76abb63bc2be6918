run(0 describe zipf)
approved()
