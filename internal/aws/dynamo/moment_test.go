package dynamo_test

import (
	"fmt"
	"strings"
	"testing"

	"surehook.example/surehook/internal/hook"
)

// changing is a table with event types during a transaction.
type changing struct {
	versions []int64 // of the catalogue, for each transaction of reads; the last one repeats
	conflict bool    // the transaction of reads conflicts with the transaction
	reads    int
}

func (c *changing) serve(r request) answer {
	switch r.op {
	case "TransactGetItems":
		if c.conflict {
			return canceled("None", "TransactionConflict")
		}
		head := fmt.Sprintf(`{"Item":{"version":{"N":"%d"}}}`, c.versions[min(c.reads, len(c.versions)-1)])
		c.reads++
		gets, _ := r.body["TransactItems"].([]any)
		return answer{body: `{"Responses":[` + head + strings.Repeat(`,{"Item":{"name":{"S":"a"}}}`, len(gets)-1) + `]}`}
	case "BatchGetItem":
		return answer{body: `{"Responses":{"table":[]}}`}
	}
	return answer{body: `{"Item":{"version":{"N":"9"}}}`}
}

func TestTypeListing_ofOneMoment(t *testing.T) {
	t.Parallel()

	names := make([]string, 2*24) // two transactions of reads
	for i := range names {
		names[i] = fmt.Sprintf("type.n%d", i)
	}
	for _, tt := range []struct {
		name  string
		table changing
		torn  bool
	}{
		{name: "equal versions", table: changing{versions: []int64{7}}, torn: false},
		{name: "a transaction is under way", table: changing{conflict: true}, torn: true},
		{name: "a change between two transactions of reads", table: changing{versions: []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}, torn: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w, s := newWire(t)
			w.reply = tt.table.serve
			l, err := s.TypeListing(t.Context(), names)
			if want := map[bool]int64{true: 9, false: 7}[tt.torn]; err != nil || l.Torn != tt.torn || l.Catalogue.Version != want {
				t.Errorf("TypeListing() = %+v, %v; want version %d, torn %t", l, err, want, tt.torn)
			}
		})
	}
}

func TestTypeListing_aFaultIsNotTorn(t *testing.T) {
	t.Parallel()

	_, s := newWire(t, failure(400, "ValidationException", ""))
	if _, err := s.TypeListing(t.Context(), []string{"a"}); hook.CodeOf(err) != hook.CodeInternal {
		t.Errorf("TypeListing() = %v; want the fault", err)
	}
}
