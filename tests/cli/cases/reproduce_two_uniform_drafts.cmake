# The reference points are met whatever the steps.
run(0 reproduce two_uniform_drafts --effort 7 --json)
string(REGEX MATCHALL "\"reference\": true" met "${out}")
list(LENGTH met count)
if(NOT count EQUAL 10)
  fail("wanted 10 reference points")
endif()
run(0 reproduce two_uniform_drafts)
approved()
