package table_test

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/memory/table"
)

// thing is an item of the model: a count, and the keys of an index.
type thing struct {
	n           int
	state, rank string // empty: not in the index
}

// model is the table as a plain map.
type model struct {
	t     *testing.T
	tb    *table.Table
	r     *rand.Rand
	there map[table.Key]thing
}

func (m *model) key() table.Key {
	return table.Key{Hash: string(rune('p' + m.r.IntN(3))), Sort: strings.Repeat(string(rune('a'+m.r.IntN(4))), 1+m.r.IntN(2))}
}

func (x thing) item(k table.Key) item {
	it := with(key(k.Hash, k.Sort), item{"n": number(fmt.Sprint(x.n))})
	if x.state != "" {
		it["state_pk"], it["state_sk"] = str(x.state), str(x.rank)
	}
	return it
}

func (m *model) put() {
	k, x := m.key(), thing{n: m.r.IntN(5)}
	if m.r.IntN(3) > 0 {
		x.state, x.rank = string(rune('x'+m.r.IntN(2))), fmt.Sprint(m.r.IntN(3))
	}
	if m.r.IntN(2) == 0 {
		mustPut(m.t, m.tb, x.item(k))
		m.there[k] = x
		return
	}
	_, err := m.tb.PutItem(m.t.Context(), &dynamodb.PutItemInput{TableName: name(), Item: x.item(k), ConditionExpression: aws.String("attribute_not_exists(pk) OR n < :n"), ExpressionAttributeValues: item{":n": number(fmt.Sprint(x.n))}})
	old, ok := m.there[k]
	if failed := errors.As(err, new(*types.ConditionalCheckFailedException)); failed != (ok && old.n >= x.n) {
		m.t.Fatalf("put of %v over %v: error = %v", x, old, err)
	}
	if err == nil {
		m.there[k] = x
	}
}

func (m *model) update() {
	k := m.key()
	x, more := m.there[k], m.r.IntN(3)
	update := "ADD n :n"
	if m.r.IntN(2) == 0 {
		update += " REMOVE state_pk, state_sk"
		x.state, x.rank = "", ""
	}
	if _, err := m.tb.UpdateItem(m.t.Context(), &dynamodb.UpdateItemInput{TableName: name(), Key: key(k.Hash, k.Sort), UpdateExpression: &update, ExpressionAttributeValues: item{":n": number(fmt.Sprint(more))}}); err != nil {
		m.t.Fatal(err)
	}
	x.n += more
	m.there[k] = x
}

func (m *model) remove() {
	a, b := m.key(), m.key()
	err := transact(
		m.t.Context(), m.tb, types.TransactWriteItem{Delete: &types.Delete{TableName: name(), Key: key(a.Hash, a.Sort), ConditionExpression: aws.String("attribute_exists(n)")}},
		types.TransactWriteItem{Delete: &types.Delete{TableName: name(), Key: key(b.Hash, b.Sort)}},
	)
	_, ok := m.there[a]
	if cancelled := errors.As(err, new(*types.TransactionCanceledException)); a != b && cancelled == ok || a == b && err == nil {
		m.t.Fatalf("transaction on %v, there %v: error = %v", a, ok, err)
	}
	if err == nil {
		delete(m.there, a)
		delete(m.there, b)
	}
}

// query compares a query of random bounds and pages with the model.
func (m *model) query() {
	hash, low, high := m.key().Hash, m.key().Sort, m.key().Sort
	index, forward, limit := m.r.IntN(3) == 0, m.r.IntN(2) == 0, 1+m.r.IntN(6)
	if index {
		hash, low, high = string(rune('x'+m.r.IntN(2))), fmt.Sprint(m.r.IntN(3)), fmt.Sprint(m.r.IntN(3))
	}
	low, high = min(low, high), max(low, high)
	var want []string
	type found struct {
		sort string
		k    table.Key
	}
	var rows []found
	for k, x := range m.there {
		h, s := k.Hash, k.Sort
		if index {
			h, s = x.state, x.rank
		}
		if h == hash && s >= low && s <= high {
			rows = append(rows, found{s, k})
		}
	}
	slices.SortFunc(rows, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.sort, b.sort), cmp.Compare(a.k.Hash, b.k.Hash), cmp.Compare(a.k.Sort, b.k.Sort))
	})
	if !forward {
		slices.Reverse(rows)
	}
	for _, row := range rows {
		want = append(want, row.k.String())
	}
	in := &dynamodb.QueryInput{
		TableName: name(), KeyConditionExpression: aws.String("pk = :h AND sk BETWEEN :l AND :u"), ScanIndexForward: &forward, Limit: aws.Int32(int32(limit)),
		ExpressionAttributeValues: item{":h": str(hash), ":l": str(low), ":u": str(high)},
	}
	if index {
		in.IndexName, in.KeyConditionExpression = aws.String("by_state"), aws.String("state_pk = :h AND state_sk BETWEEN :l AND :u")
	}
	var got []string
	for {
		out, err := m.tb.Query(m.t.Context(), in)
		if err != nil {
			m.t.Fatal(err)
		}
		for _, it := range out.Items {
			k := table.Key{Hash: plain(it["pk"]), Sort: plain(it["sk"])}
			got = append(got, k.String())
			if x := m.there[k]; !index && read(it) != read(x.item(k)) {
				m.t.Fatalf("item %v = %s; want %s", k, read(it), read(x.item(k)))
			}
		}
		if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey == nil {
			break
		}
	}
	if !slices.Equal(got, want) {
		m.t.Fatalf("query of %s from %s to %s, index %v, forward %v, limit %d = %q; want %q", hash, low, high, index, forward, limit, got, want)
	}
}

// FuzzTable runs random requests against the table and a plain map.
func FuzzTable(f *testing.F) {
	for seed := range uint64(30) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		m := &model{t: t, tb: table.New(schema()), r: rand.New(rand.NewPCG(seed, 0)), there: make(map[table.Key]thing)}
		for range 200 {
			[]func(){m.put, m.put, m.update, m.remove, m.query, m.query}[m.r.IntN(6)]()
		}
	})
}
