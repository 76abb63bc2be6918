# A bad row in the last of several files is refused before work on the first: this survey would take years.
run(2 survey ${FILES}/good.npz ${FILES}/nan.npz --tuples 1000000000000)
says(err "nan\\.npz: draft, row 3, token 2")
run(2 survey zipf:vocabulary=50 ${FILES}/truncated.npz --tuples 1000000000000)
says(err "truncated\\.npz")
run(2 survey ${FILES}/sum.npz ${FILES}/good.npz --tuples 1000000000000)
says(err "sum\\.npz: target, row 4")
