# A scheme that is lossy by design passes with a note; one that only trials can decide is not called proved.
run(0 check typical_best --tier proof)
says(out "lossy by design, TV to 0\\.[0-9]+")
run(0 check gls --tier sampled --source zipf:vocabulary=6 -K 2)
says(out "gls +sampled +held")
