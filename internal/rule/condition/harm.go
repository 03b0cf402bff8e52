package condition

import "cmp"

// Harm is a condition together with the damage it does.
type Harm struct {
	Condition

	Dead    int // dead deliveries
	Waiting int // deliveries that wait for an attempt; 0 if unknown
	Failed  int // failed attempts
}

// Attention reports whether the owner should look at the endpoint: it does not work properly, or
// events were lost.
func (h Harm) Attention() bool { return h.State < Healthy || h.Dead > 0 }

// Compare orders by harm, worst first: failing endpoints with deaths, then by State; then by
// deaths, by waiting deliveries, by failed attempts, and by how long the condition has lasted.
func Compare(a, b Harm) int {
	return cmp.Or(
		cmp.Compare(a.rank(), b.rank()), cmp.Compare(b.Dead, a.Dead), cmp.Compare(b.Waiting, a.Waiting),
		cmp.Compare(b.Failed, a.Failed), a.Since.Compare(b.Since),
	)
}

// rank is the state, with failing endpoints that lose deliveries in front.
func (h Harm) rank() State {
	if h.State == Failing && h.Dead > 0 {
		return 0
	}
	return h.State
}
