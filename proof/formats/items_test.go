package formats_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/memory/table"
)

// kindOf returns the kind of the item: the beginnings of both keys, as endpoint.circuit.
func kindOf(k table.Key) string {
	hash, _, _ := strings.Cut(k.Hash, "#")
	sort, _, _ := strings.Cut(k.Sort, "#")
	return hash + "." + sort
}

// writer is the attribute that names the writer of a version of a record.
var writer = regexp.MustCompile(`^w[0-7]$`)

// namesWriters reports whether items of the kind name their writers.
func namesWriters(kind string) bool {
	return kind == "endpoint.circuit" || kind == "tenant.replay" || kind == "erasure.erasure" || kind == "order.sequence"
}

// settled returns the item with fixed values in place of random ones, the names of writers
// and the first version of a tenant, and with its sets in order.
func settled(k table.Key, item table.Item) table.Item {
	item = maps.Clone(item)
	for name, value := range item {
		switch v := value.(type) {
		case *types.AttributeValueMemberSS:
			item[name] = &types.AttributeValueMemberSS{Value: slices.Sorted(slices.Values(v.Value))}
		case *types.AttributeValueMemberNS:
			item[name] = &types.AttributeValueMemberNS{Value: slices.Sorted(slices.Values(v.Value))}
		}
		switch kind := kindOf(k); {
		case namesWriters(kind) && writer.MatchString(name):
			item[name] = &types.AttributeValueMemberS{Value: "writer00"}
		case kind == "tenant.tenant" && name == "version":
			item[name] = &types.AttributeValueMemberN{Value: "7"}
		}
	}
	return item
}

// itemsOf returns the items of the table by kind, in the order of the keys.
func itemsOf(t *testing.T, s *memory.Store) map[string][]byte {
	t.Helper()

	kinds := make(map[string][]json.RawMessage)
	s.Table.Each(func(k table.Key, item table.Item) bool {
		encoded, err := attributevalue.MarshalMapJSON(settled(k, item))
		if err != nil {
			t.Fatal(err)
		}
		kinds[kindOf(k)] = append(kinds[kindOf(k)], encoded)
		return true
	})
	files := make(map[string][]byte)
	for kind, all := range kinds {
		files[kind] = text(t, all)
	}
	return files
}

// keyOf returns the key of the item.
func keyOf(t *testing.T, item table.Item) (k table.Key) {
	t.Helper()

	for name, part := range map[string]*string{memory.Schema().Hash: &k.Hash, memory.Schema().Sort: &k.Sort} {
		if err := attributevalue.Unmarshal(item[name], part); err != nil {
			t.Fatal(err)
		}
	}
	return k
}

// load writes the items of the files into a new store, but for those of the keys without.
func load(t *testing.T, files map[string][]byte, without ...table.Key) *memory.Store {
	t.Helper()

	s := memory.NewStore()
	for kind, file := range files {
		var all []json.RawMessage
		if err := json.Unmarshal(file, &all); err != nil {
			t.Fatalf("read items of %s: %v", kind, err)
		}
		for _, encoded := range all {
			item, err := attributevalue.UnmarshalMapJSON(encoded)
			if err != nil {
				t.Fatalf("read an item of %s: %v", kind, err)
			}
			if slices.Contains(without, keyOf(t, item)) {
				continue
			}
			if _, err := s.Table.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(memory.Schema().Name), Item: item}); err != nil {
				t.Fatalf("put an item of %s: %v", kind, err)
			}
		}
	}
	return s
}

// text returns the JSON of a file, with the names of objects in order.
func text(t *testing.T, v any) []byte {
	t.Helper()

	encoded, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var sorted any
	if err := json.Unmarshal(encoded, &sorted); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "\t")
	if err := e.Encode(sorted); err != nil {
		t.Fatal(err)
	}
	return []byte(b.String())
}
