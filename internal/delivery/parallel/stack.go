package parallel

// room is the stack of a delivery over memory, less than 13 KiB. A delivery over the
// adapters of AWS needs more, and its stack grows once more.
const room = 13 << 10

// growStack grows the stack of the calling goroutine, which starts with a few KiB. The
// runtime doubles a full stack and copies all frames: later, with a fifth of the CPU time
// of a delivery. At the start of the goroutine there is next to nothing to copy.
//
//go:noinline
func growStack(i int) byte {
	if i < 0 { // never: the frame counts, and an array in use would be cleared
		var frame [room]byte
		return frame[-i]
	}
	return 0
}
