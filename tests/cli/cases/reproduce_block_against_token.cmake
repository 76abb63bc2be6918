# Exact models alone; then drafts, the same for any threads. Captured paths are taken once each.
run(0 reproduce block_against_token)
says(out "\\(1/3 2/3\\), \\(2/3 1/3\\) +0\\.0000 +0\\.1000 +0\\.1842 ")
says(out " comparisons, 0 failed\n")
foreach(threads 1 2 7)
  run(0 reproduce block_against_token ${SOURCE}/data/stories512_trees.npz ${SOURCE}/data/stories260k.bin:q3 --effort 9
      --threads ${threads} --json)
  if(threads EQUAL 1)
    set(one "${out}")
    says(out "\"paths\": 192")
    says(out "\"paths\": 9")
    # The mean that another program computed for token verification of the captured paths: 3.8731.
    says(out "\"token\": 3\\.873")
  elseif(NOT out STREQUAL one)
    fail("${threads} threads differ from one")
  endif()
endforeach()
run(2 reproduce block_against_token nowhere.npz)
