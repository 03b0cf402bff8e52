package deadletter

import (
	"cmp"
	"slices"
	"time"

	"surehook/internal/hook"
)

// Bounds of what is kept of one group.
const (
	maxErrors  = 32   // different texts
	maxReasons = 8    // different reasons
	maxSlots   = 1024 // different slots: three and a half days in which every slot has its deaths
)

// slot is the grain in which times of death are kept.
const slot = 5 * time.Minute

// Group is what the dead letters of one endpoint, class and status have in common.
type Group struct {
	Endpoint     hook.EndpointID
	Class        hook.Class  // 0 when no attempt was made: then letters are grouped by reason
	Status       int         // 0 when there was no answer
	Reason       hook.Reason // that most of them died of
	Count        int
	FirstAt      time.Time // when the first of them died
	LastAt       time.Time // when the last of them died
	MeanAttempts float64
	Error        string // the most common one; empty when there is none
	Pattern      Pattern
	Suggestion   string // what would help, in a sentence or two
}

// Analyzer groups dead letters. The zero Analyzer is ready to use.
type Analyzer struct {
	groups map[key]*evidence
}

// key tells groups apart.
type key struct {
	endpoint hook.EndpointID
	class    hook.Class
	status   int
	reason   hook.Reason // of letters without an attempt; empty for all others
}

// evidence is what is kept of a group's letters.
type evidence struct {
	count, attempts int
	first, last     time.Time
	reasons         tally[hook.Reason]
	errors          tally[string]
	slots           tally[int64]
}

// Add takes one letter. The order of letters makes no difference as long as no
// group has more different errors or times than are kept.
func (a *Analyzer) Add(l Letter) {
	k := key{endpoint: l.Endpoint, class: l.Class, status: l.Status}
	if l.Class == 0 {
		k.reason = l.Reason
	}
	e, ok := a.groups[k]
	if !ok {
		if a.groups == nil {
			a.groups = map[key]*evidence{}
		}
		e = &evidence{
			first: l.DiedAt, last: l.DiedAt,
			reasons: tally[hook.Reason]{}, errors: tally[string]{}, slots: tally[int64]{},
		}
		a.groups[k] = e
	}
	e.add(l)
}

func (e *evidence) add(l Letter) {
	e.count++
	e.attempts += l.Attempts
	if l.DiedAt.Before(e.first) {
		e.first = l.DiedAt
	}
	if l.DiedAt.After(e.last) {
		e.last = l.DiedAt
	}
	e.reasons.add(l.Reason, maxReasons)
	if l.Error != "" {
		e.errors.add(l.Error, maxErrors)
	}
	e.slots.add(l.DiedAt.Unix()/int64(slot.Seconds()), maxSlots)
}

// Groups returns the groups, the largest first; equally large ones by endpoint,
// class and status.
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
	g.Pattern = recognise(g, densest(e.slots, int64(clusterWindow/slot)))
	g.Suggestion = suggest(g)
	return g
}
