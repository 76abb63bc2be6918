run(0 describe iid)
approved()
