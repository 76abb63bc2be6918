# Runs one case: a script of the calls below. Set by the caller: PROGRAM, FAKES (the same with devices that are none,
# fake_devices.cpp), CASE, FILES (bad and good captures),
# SOURCE (the source tree), WORK (an empty folder of the case's own).
#
#   run(2 prove nobody)          runs the program, wants exit code 2; sets `out` and `err`
#   says(out "proved")           the stream matches the regular expression
#   silent_on(out "seconds")     it does not
#   approved()                   `out` equals approved/<case>.txt once masked; DRAFTPROOF_APPROVE=1 rewrites that
#   mask("[0-9]+ of" "# of")     replaces what may change from run to run, or when a property or a law is added
#
# Every run is held to the rules of all commands: bad input (2) and what fails (4) leave standard output empty and explain
# themselves on standard error, other exit codes leave standard error empty, and no stream that is not a terminal gets colour.
cmake_minimum_required(VERSION 3.25)

string(ASCII 27 escape)
get_filename_component(case ${CASE} NAME_WE)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})

function(fail text)
  message(FATAL_ERROR "${text}\ncommand: ${command}\nexit code: ${code}\nstandard output:\n${out}\nstandard error:\n${err}")
endfunction()

macro(run wanted)
  set(command "draftproof ${ARGN}")
  execute_process(COMMAND ${PROGRAM} ${ARGN} WORKING_DIRECTORY ${WORK} RESULT_VARIABLE code OUTPUT_VARIABLE out
                  ERROR_VARIABLE err)
  # A slow machine may show progress.
  string(REGEX REPLACE "[a-z_]+: [0-9]+ %, [0-9]+ s left\n" "" err "${err}")
  if(NOT code STREQUAL "${wanted}")
    fail("wanted exit code ${wanted}")
  endif()
  if("${wanted}" MATCHES "^[24]$" AND (err STREQUAL "" OR NOT out STREQUAL ""))
    fail("bad input or failure: wanted a message on standard error and nothing on standard output")
  elseif(NOT "${wanted}" MATCHES "^[24]$" AND NOT err STREQUAL "")
    fail("wanted nothing on standard error")
  endif()
  if("${out}${err}" MATCHES "${escape}")
    fail("wanted no escape sequences")
  endif()
endmacro()

function(says stream pattern)
  if(NOT "${${stream}}" MATCHES "${pattern}")
    fail("wanted on '${stream}': ${pattern}")
  endif()
endfunction()

function(silent_on stream pattern)
  if("${${stream}}" MATCHES "${pattern}")
    fail("not wanted on '${stream}': ${pattern}")
  endif()
endfunction()

macro(mask pattern replacement)
  string(REGEX REPLACE "${pattern}" "${replacement}" out "${out}")
endmacro()

function(approved)
  # The last digits of a logarithm or of an interval's bound belong to the library that computed them.
  string(REGEX REPLACE "([0-9]\\.[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9])[0-9]+" "\\1" got "${out}")
  set(file ${SOURCE}/tests/cli/approved/${case}.txt)
  if("$ENV{DRAFTPROOF_APPROVE}")
    file(WRITE ${file} "${got}")
    return()
  endif()
  if(NOT EXISTS ${file})
    fail("nothing approved yet: run with DRAFTPROOF_APPROVE=1 and read ${file}")
  endif()
  file(READ ${file} wanted)
  if(NOT got STREQUAL wanted)
    file(WRITE ${WORK}/received.txt "${got}")
    fail("differs from ${file}; received: ${WORK}/received.txt")
  endif()
endfunction()

include(${CASE})
