# Refused before the work: these surveys would take hours.
foreach(path no_such_folder/x.json .)
  run(2 survey zipf --tuples 1000000000000 --output ${path})
  says(err "${path}: found a file that cannot be written, wanted a writable path")
endforeach()
# Bad input must not cost the result of the last run.
file(WRITE ${WORK}/kept.json "kept")
run(2 survey nobody --output kept.json)
file(READ ${WORK}/kept.json kept)
if(NOT kept STREQUAL "kept")
  fail("an earlier result was lost")
endif()
