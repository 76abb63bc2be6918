# A disk that fills up, a folder that cannot be written and a capture that is gone: a clear error, the documented exit
# code, and nothing half-written.
set(survey survey zipf:vocabulary=40,positions=60 --instances 0 --tuples 60 --verifier k_seq,ladder,single_draft)

# No file can be made in /proc: refused before the work where permissions say so (2), else an error of the write (4).
if(EXISTS /proc/self)
  foreach(to --output --checkpoint)
    execute_process(COMMAND ${PROGRAM} ${survey} ${to} /proc/result.json WORKING_DIRECTORY ${WORK} RESULT_VARIABLE code
                    OUTPUT_VARIABLE out ERROR_VARIABLE err)
    if(NOT code MATCHES "^[24]$" OR NOT out STREQUAL "" OR NOT err MATCHES "/proc/result.json: (found|cannot be created)")
      fail("${to} in a folder where no file can be made")
    endif()
  endforeach()
endif()

# A disk of one page, which the earlier file takes, where a namespace of one's own may mount one.
find_program(UNSHARE unshare)
set(disk "mkdir disk && mount -t tmpfs -o size=4k none disk && printf kept >disk/all.json")
execute_process(COMMAND ${UNSHARE} -rm sh -c "mkdir probe && mount -t tmpfs -o size=4k none probe"
                WORKING_DIRECTORY ${WORK} RESULT_VARIABLE mounted OUTPUT_QUIET ERROR_QUIET)
if(UNSHARE AND mounted EQUAL 0)
  foreach(option "--output disk/all.json --json" "--shard 1/2 --output disk/all.json" "--json --checkpoint disk/saved")
    separate_arguments(words UNIX_COMMAND "${option}")
    file(REMOVE_RECURSE ${WORK}/disk)
    execute_process(COMMAND ${UNSHARE} -rm sh -c "${disk} && \"$@\"; code=$?; ls disk; cat disk/all.json; exit $code" sh
                            ${PROGRAM} ${survey} ${words}
                    WORKING_DIRECTORY ${WORK} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
    # The result stands on standard output, but for a part or a checkpoint, which is none.
    if(NOT code EQUAL 4 OR NOT out MATCHES "all.json\nkept$" OR NOT err MATCHES "disk/[a-z.]+: cannot be written: No space left")
      fail("a full disk, ${option}")
    endif()
  endforeach()
else()
  message(STATUS "skipped: no tmpfs of one's own here")
endif()

# A capture that is gone between the parts and their merge, or changed.
file(COPY_FILE ${SOURCE}/data/stories512_positions.npz ${WORK}/good.npz)
set(survey survey good.npz --instances 0 --tuples 60 --verifier k_seq)
foreach(i 1 2)
  run(0 ${survey} --shard ${i}/2 --output part-${i}.json)
endforeach()
file(RENAME ${WORK}/good.npz ${WORK}/away.npz)
run(2 merge part-1.json part-2.json --json)
says(err "good.npz: found")
file(READ ${WORK}/part-1.json part)
file(WRITE ${WORK}/good.npz "${part}")
run(2 merge part-1.json part-2.json --json)
says(err "good.npz")
