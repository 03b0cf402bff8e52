package deadletter

import (
	"cmp"
	"slices"
	"time"

	"surehook.example/surehook/internal/hook"
)

// Bounds of the memory of one group. Beyond them, only frequent values are kept; see tally.
const (
	maxErrors  = 32   // distinct error texts
	maxReasons = 8    // distinct reasons
	maxSlots   = 1024 // distinct slots: 1024 x 5 min = 3.5 days with deaths in every slot
)

// slot is the resolution of stored times of death.
const slot = 5 * time.Minute

// Group is a summary of the dead letters of one endpoint, class and status, or, without an attempt, of
// one endpoint and reason.
type Group struct {
	Endpoint     hook.EndpointID `json:"endpoint_id"`
	Class        hook.Class      `json:"class,omitzero"`  // of the last attempt; 0 without an attempt
	Status       int             `json:"status,omitzero"` // 0 for no response
	Reason       hook.Reason     `json:"reason"`          // the most frequent reason
	Count        int             `json:"count"`
	FirstAt      time.Time       `json:"first_at"`       // the first death
	LastAt       time.Time       `json:"last_at"`        // the last death
	MeanAttempts float64         `json:"mean_attempts"`  // per dead letter
	Error        string          `json:"error,omitzero"` // the most frequent error; empty if none has one
	Pattern      Pattern         `json:"pattern"`
	Suggestion   string          `json:"suggestion"` // advice for the owner, one or two sentences
}

// Analyzer groups dead letters. The zero Analyzer is ready to use.
type Analyzer struct {
	groups map[key]*evidence
}

// key identifies a group.
type key struct {
	endpoint hook.EndpointID
	class    hook.Class
	status   int
	reason   hook.Reason // of dead letters without an attempt; otherwise empty
}

// evidence is the bounded memory of a group.
type evidence struct {
	count, attempts int
	first, last     time.Time
	reasons         tally[hook.Reason]
	errors          tally[string]
	slots           tally[int64]
}

// Add adds one dead delivery. The order of the dead letters matters only if a group exceeds maxErrors,
// maxReasons or maxSlots.
func (a *Analyzer) Add(d hook.Delivery) {
	k := key{endpoint: d.ID.Endpoint, class: d.Last.Class, status: d.Last.Status}
	if k.class == 0 {
		k.reason = d.Reason
	}
	e, ok := a.groups[k]
	if !ok {
		if a.groups == nil {
			a.groups = map[key]*evidence{}
		}
		e = &evidence{
			first: d.UpdatedAt, last: d.UpdatedAt,
			reasons: tally[hook.Reason]{}, errors: tally[string]{}, slots: tally[int64]{},
		}
		a.groups[k] = e
	}
	e.add(d)
}

func (e *evidence) add(d hook.Delivery) {
	died := d.UpdatedAt
	e.count++
	e.attempts += d.Attempts
	if died.Before(e.first) {
		e.first = died
	}
	if died.After(e.last) {
		e.last = died
	}
	e.reasons.add(d.Reason, maxReasons)
	if d.Last.Error != "" {
		e.errors.add(d.Last.Error, maxErrors)
	}
	e.slots.add(died.Unix()/int64(slot.Seconds()), maxSlots)
}

// Groups returns the groups, largest first, and groups of equal size by endpoint,
// class, status and reason.
func (a *Analyzer) Groups() []Group {
	groups := make([]Group, 0, len(a.groups))
	for k, e := range a.groups {
		groups = append(groups, e.group(k))
	}
	slices.SortFunc(groups, func(x, y Group) int {
		return cmp.Or(
			cmp.Compare(y.Count, x.Count),
			cmp.Compare(x.Endpoint, y.Endpoint),
			cmp.Compare(x.Class, y.Class),
			cmp.Compare(x.Status, y.Status),
			cmp.Compare(x.Reason, y.Reason),
		)
	})
	return groups
}

func (e *evidence) group(k key) Group {
	g := Group{
		Endpoint:     k.endpoint,
		Class:        k.class,
		Status:       k.status,
		Reason:       e.reasons.most(),
		Count:        e.count,
		FirstAt:      e.first,
		LastAt:       e.last,
		MeanAttempts: float64(e.attempts) / float64(e.count),
		Error:        e.errors.most(),
	}
	g.Pattern, g.Suggestion = recognize(g, densest(e.slots, int64(clusterWindow/slot)))
	return g
}
