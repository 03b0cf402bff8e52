package verify

import "time"

// At sets the clock of the verifier.
func At(v *Verifier, now time.Time) { v.now = func() time.Time { return now } }
