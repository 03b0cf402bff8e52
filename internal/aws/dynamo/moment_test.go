package dynamo_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"surehook.example/surehook/internal/aws/dynamo"
	"surehook.example/surehook/internal/hook"
)

// torn is a table during a transaction that creates or changes an endpoint.
type torn struct {
	rows     []string // of the tenant's list: ids of endpoints
	versions []int64  // of the tenant, for each transaction of reads; the last one repeats
	conflict bool     // the transaction of reads conflicts with the transaction
	reads    int
}

func (tt *torn) serve(r request) answer {
	switch r.op {
	case "Query":
		var rows []string
		for _, id := range tt.rows {
			rows = append(rows, fmt.Sprintf(`{"pk":{"S":"tenant#acme"},"sk":{"S":"endpoint#%s"}}`, id))
		}
		return answer{body: `{"Items":[` + strings.Join(rows, ",") + `]}`}
	case "TransactGetItems":
		if tt.conflict {
			return canceled("None", "TransactionConflict")
		}
		version := tt.versions[min(tt.reads, len(tt.versions)-1)]
		tt.reads++
		return answer{body: `{"Responses":[` + strings.Join(tt.items(r.body["TransactItems"], version), ",") + `]}`}
	case "BatchGetItem":
		keys, _ := r.body.at("RequestItems", "table", "Keys").([]any)
		var items []string
		for range keys {
			items = append(items, endpointJSON("ep_1"))
		}
		return answer{body: `{"Responses":{"table":[` + strings.Join(items, ",") + `]}}`}
	}
	return answer{body: `{"Item":{"version":{"N":"9"},"endpoints":{"N":"2"},"types":{"N":"1"}}}`}
}

// items answers with the tenant, which counts 2 endpoints, and with the endpoints.
func (tt *torn) items(gets any, version int64) (items []string) {
	list, _ := gets.([]any)
	for _, get := range list {
		key, _ := json.Marshal(get)
		item := `{"version":{"N":"` + fmt.Sprint(version) + `"},"endpoints":{"N":"` + fmt.Sprint(2) + `"}}`
		if strings.Contains(string(key), "ep_") {
			item = endpointJSON("ep_1")
		}
		items = append(items, `{"Item":`+item+`}`)
	}
	return items
}

func endpointJSON(id string) string {
	return `{"id":{"S":"` + id + `"},"tenant":{"S":"acme"},"status":{"S":"active"},"style":{"S":"standard"}}`
}

func TestListing_ofOneMoment(t *testing.T) {
	t.Parallel()

	many := make([]string, 2*24) // two transactions of reads
	for i := range many {
		many[i] = fmt.Sprintf("ep_%d", i)
	}
	for _, tt := range []struct {
		name  string
		table torn
		torn  bool
	}{
		{name: "a whole list", table: torn{rows: []string{"ep_1", "ep_2"}, versions: []int64{7}}, torn: false},
		{name: "a row is missing", table: torn{rows: []string{"ep_1"}, versions: []int64{7}}, torn: true},
		{name: "a transaction is under way", table: torn{rows: []string{"ep_1", "ep_2"}, versions: []int64{7}, conflict: true}, torn: true},
		{name: "a change between two transactions of reads", table: torn{rows: many, versions: []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}, torn: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w, s := newWire(t)
			w.reply = tt.table.serve
			l, err := s.Listing(t.Context(), "acme")
			if err != nil || l.Torn != tt.torn || len(l.Endpoints) != len(tt.table.rows) {
				t.Errorf("Listing() = %d endpoints, torn %t, %v; want %d, %t", len(l.Endpoints), l.Torn, err, len(tt.table.rows), tt.torn)
			}
		})
	}
}

func TestTypeListing_torn(t *testing.T) {
	t.Parallel()

	w, s := newWire(t)
	w.reply = (&torn{conflict: true}).serve
	l, err := s.TypeListing(t.Context(), []string{"order.paid"})
	if err != nil || !l.Torn || l.Catalogue.Version != 9 {
		t.Errorf("TypeListing() = %+v, %v; want the torn catalogue 9", l, err)
	}
}

func TestListing_aFaultIsNoTornListing(t *testing.T) {
	t.Parallel()

	for name, call := range map[string]func(s *dynamo.Store) error{
		"Listing":     func(s *dynamo.Store) error { _, err := s.Listing(t.Context(), "acme"); return err },
		"TypeListing": func(s *dynamo.Store) error { _, err := s.TypeListing(t.Context(), []string{"a"}); return err },
	} {
		w, s := newWire(t)
		w.reply = func(r request) answer {
			if r.op == "TransactGetItems" {
				return failure(400, "ValidationException", "")
			}
			if r.op == "GetItem" {
				return answer{body: `{"Item":{"version":{"N":"9"}}}`} // as an older build left it
			}
			return answer{body: `{}`}
		}
		if err := call(s); err == nil || hook.CodeOf(err) != hook.CodeInternal {
			t.Errorf("%s() = %v; want the fault", name, err)
		}
	}
}
