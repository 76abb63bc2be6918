run(0 describe block)
approved()
