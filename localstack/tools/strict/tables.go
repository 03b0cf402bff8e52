package strict

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// schema is the key schema of a table.
type schema struct {
	keys    []string            // partition key, sort key
	indexes map[string][]string // the keys of each global index
	kinds   map[string]string   // of key attributes: S, N or B
}

// tables knows the schemas of tables. The emulator describes a table at the
// table's first request.
type tables struct {
	ask func(r *http.Request, table string) *schema

	mu    sync.Mutex
	known map[string]*schema
}

// schema returns the table's schema, or nil if the emulator does not know the
// table.
func (t *tables) schema(r *http.Request, table string) *schema {
	t.mu.Lock()
	defer t.mu.Unlock()

	if s := t.known[table]; s != nil {
		return s
	}
	s := t.ask(r, table)
	if s == nil {
		return nil
	}
	if t.known == nil {
		t.known = map[string]*schema{}
	}
	t.known[table] = s
	return s
}

// seen returns the schema, if an earlier request needed the schema.
func (t *tables) seen(table string) *schema {
	t.mu.Lock()
	defer t.mu.Unlock()

	return t.known[table]
}

// learn forgets the schema of a changed table.
func (t *tables) learn(c *call) {
	if c.service != "dynamodb" {
		return
	}
	switch c.operation {
	case "CreateTable", "UpdateTable", "DeleteTable":
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.known, c.input.text("TableName"))
	}
}

// description is the answer of DescribeTable.
type description struct {
	Table struct {
		KeySchema  keySchema `json:"KeySchema"`
		Attributes []struct {
			Name string `json:"AttributeName"`
			Type string `json:"AttributeType"`
		} `json:"AttributeDefinitions"`
		Indexes []struct {
			Name      string    `json:"IndexName"`
			KeySchema keySchema `json:"KeySchema"`
		} `json:"GlobalSecondaryIndexes"`
	} `json:"Table"`
}

type keySchema []struct {
	Name string `json:"AttributeName"`
	Type string `json:"KeyType"` // HASH or RANGE
}

// names returns the partition key, then the sort key.
func (k keySchema) names() []string {
	var names []string
	for _, kind := range []string{"HASH", "RANGE"} {
		for _, attribute := range k {
			if attribute.Type == kind {
				names = append(names, attribute.Name)
			}
		}
	}
	return names
}

// describe asks the emulator for a table's schema, as the owner of the account.
func (f *Front) describe(r *http.Request, table string) *schema {
	body, err := json.Marshal(map[string]string{"TableName": table})
	if err != nil {
		return nil
	}
	ask := r.Clone(r.Context())
	signAsOwner(ask)
	ask.Header.Set("X-Amz-Target", f.opts.Rules.models["dynamodb"].Metadata.TargetPrefix+".DescribeTable")
	ask.Body, ask.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	got := &answer{}
	f.proxy.ServeHTTP(got, ask)
	var out description
	if json.Unmarshal(got.body.Bytes(), &out) != nil || len(out.Table.KeySchema) == 0 {
		return nil
	}
	s := &schema{keys: out.Table.KeySchema.names(), indexes: map[string][]string{}, kinds: map[string]string{}}
	for _, a := range out.Table.Attributes {
		s.kinds[a.Name] = a.Type
	}
	for _, index := range out.Table.Indexes {
		s.indexes[index.Name] = index.KeySchema.names()
	}
	return s
}

// keyOf returns the key of an item; without a schema, the whole item.
func (s *schema) keyOf(i item) item {
	if s == nil {
		return i
	}
	key := item{}
	for _, name := range s.keys {
		key[name] = i[name]
	}
	return key
}

// checkKey checks a key in a request: exactly the attributes of the table's
// key.
func (s *schema) checkKey(key item) *refusal {
	if s == nil {
		return nil
	}
	if len(key) != len(s.keys) {
		return invalid("The provided key element does not match the schema: it has %d attributes, not %v", len(key), s.keys)
	}
	return s.checkKeysOf(key)
}

// checkKeysOf checks the key attributes of an item: present, of the schema's
// type, not empty, and within the limits. The attributes of an index's key may
// be absent.
func (s *schema) checkKeysOf(i item) *refusal {
	if s == nil {
		return nil
	}
	for n, name := range s.keys {
		if !i.has(name) {
			return invalid("One or more parameter values were invalid: Missing the key %s in the item", name)
		}
		if r := s.checkKeyValue(name, n, i.object(name)); r != nil {
			return r
		}
	}
	for index, names := range s.indexes {
		for n, name := range names {
			if !i.has(name) {
				continue
			}
			if r := s.checkKeyValue(name, n, i.object(name)); r != nil {
				r.message += " IndexName: " + index
				return r
			}
		}
	}
	return nil
}

func (s *schema) checkKeyValue(name string, position int, value object) *refusal {
	limit := maxPartitionKey
	if position > 0 {
		limit = maxSortKey
	}
	kind := s.kinds[name]
	switch size := valueSize(value); {
	case !value.has(kind):
		return invalid("One or more parameter values were invalid: Type mismatch for key %s expected: %s", name, kind)
	case size == 0:
		return invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: %s", name)
	case size > limit:
		return invalid("One or more parameter values were invalid: Size of key %s has exceeded the maximum size limit of %d bytes", name, limit)
	}
	return nil
}

// identity is the text of an item's key.
func identity(table string, key item) string {
	text, err := json.Marshal(key) // sorts the names
	if err != nil {
		return fmt.Sprintf("%s %v", table, key)
	}
	return table + " " + string(text)
}
