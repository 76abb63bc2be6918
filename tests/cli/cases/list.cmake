# Everything that was found, by kind. Looked for, not compared: a new file must not break a test of the list.
run(0 list)
foreach(kind verifiers "lossy schemes" mutants "draft laws" properties "path verifiers" "path mutants" "tree laws" "path properties"
        instances families)
  says(out "(^|\n)${kind}\n")
endforeach()
says(out "\n  single_draft +accept the draft with min\\(1, p/q\\), else draw from \\(p - q\\)\\+\n")
says(out "\n  resample_from_target ")
says(out "\n  single_draft_tree +accept the draft with min\\(1, p/q\\), else draw from \\(p - q\\)\\+, at every node of a tree\n")

run(0 list --json)
string(JSON schema GET "${out}" schema)
if(NOT schema STREQUAL "draftproof.list/2")
  fail("schema")
endif()
# Every header of the rooms is listed under its file's name.
foreach(room verifiers mutants mutants/drafters mutants/drafters/trees sim/drafters verifiers/lossy verifiers/lossy/paths properties/checks verifiers/paths mutants/paths
        sim/drafters/trees
        properties/paths/checks)
  file(GLOB headers ${SOURCE}/${room}/*.hpp)
  foreach(header ${headers})
    get_filename_component(name ${header} NAME_WE)
    says(out "\"name\": \"${name}\"")
  endforeach()
endforeach()
