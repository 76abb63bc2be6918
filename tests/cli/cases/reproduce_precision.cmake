# The study of precision: every form far below its limit, textbook samplers beyond it.
run(0 reproduce precision --json)
says(out "\"schema\": \"draftproof.study.precision/1\"")
says(out "\"sampler\": \"float32 running sum\"")
says(out "\"violated\": 0")
