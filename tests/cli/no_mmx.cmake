# Fails if OBJDUMP finds an instruction on an MMX register in PROGRAM: MMX leaves the x87 register stack marked as full.
execute_process(COMMAND ${OBJDUMP} -d --no-show-raw-insn ${PROGRAM} COMMAND grep "%mm[0-7]" OUTPUT_VARIABLE found
                RESULTS_VARIABLE results)
if(results STREQUAL "0;0")
  message(FATAL_ERROR "MMX registers in ${PROGRAM}:\n${found}")
elseif(NOT results STREQUAL "0;1")
  message(FATAL_ERROR "${OBJDUMP} and grep ended with ${results}, wanted 0;1")
endif()
