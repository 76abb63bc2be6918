run(0 describe iid --format markdown)
approved()
