# Numbers outside their range, malformed or negative, never wrap around.
foreach(arguments
        "zipf:vocabulary=1" "zipf:vocabulary=many" "zipf;-K;0" "zipf;-K;33" "zipf;-K;2" "zipf;--tuples;0"
        "zipf;--tuples;-5" "zipf;--tuples;ten" "zipf;--seconds;-1" "zipf;--confidence;2" "zipf;--tokens;-1"
        "zipf;--seed;-1" "zipf;--threads;5000" "zipf;--target-top-p;2" "zipf;--target-temperature;-1"
        "zipf;--proposal-top-k;-1")
  run(2 simulate single_draft ${arguments})
endforeach()
run(2 simulate single_draft zipf:vocabulary=1)
says(err "vocabulary = \"1\", wanted a whole number from 2 to")
run(2 simulate single_draft zipf --position 3)
says(err "--position: found 3, wanted a number below 1")
run(2 simulate single_draft zipf -K 2)
says(err "--drafts: found 2, wanted at most 1 for single_draft")
run(2 survey zipf --instances -1)
run(2 prove single_draft --branches 0)
run(2 prove single_draft --instances 0)
run(2 optimum zipf -K 1,99)
run(2 list --json --format table)
run(2 list --format xml)
says(err "csv,html,json,jsonl,markdown,table")
