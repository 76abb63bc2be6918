run(0 describe delayed_paths)
approved()
