package table_test

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/memory/table"
)

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/howitworks-ttl.html
func TestExpire(t *testing.T) {
	t.Parallel()

	tb := table.New(schema())
	now := time.Unix(1_800_000_000, 0)
	at := func(d time.Duration) types.AttributeValue { return number(fmt.Sprint(now.Add(d).Unix())) }
	mustPut(t, tb,
		with(key("p", "past"), item{"expires_at": at(-time.Second), "state_pk": str("open"), "state_sk": str("x")}), with(key("p", "late"), item{"expires_at": at(-time.Hour)}),
		with(key("p", "future"), item{"expires_at": at(time.Second)}), key("p", "never"), with(key("p", "text"), item{"expires_at": str("1")}),
		with(key("p", "ancient"), item{"expires_at": at(-6 * 365 * 24 * time.Hour)}),
	)
	var told []string
	tb.Wrote = func(k table.Key, before, after table.Item) {
		told = append(told, fmt.Sprint(k, " ", before != nil, after != nil))
	}
	if n := tb.Expire(now, func(k table.Key) bool { return k.Sort != "late" }); n != 1 {
		t.Errorf("Expire() = %d; want 1", n)
	}
	if n := tb.Expire(now, nil); n != 1 {
		t.Errorf("Expire() = %d; want 1", n)
	}
	mustDelete(t.Context(), t, tb, key("p", "never"))
	mustDelete(t.Context(), t, tb, key("p", "never"))
	if want := []string{"p past true false", "p late true false", "p never true false"}; !reflect.DeepEqual(told, want) {
		t.Errorf("told %v; want %v", told, want)
	}
	var rest []string
	tb.Each(func(k table.Key, _ table.Item) bool {
		rest = append(rest, k.Sort)
		return len(rest) < 2
	})
	if want := []string{"ancient", "future"}; !reflect.DeepEqual(rest, want) {
		t.Errorf("Each() = %v; want %v", rest, want)
	}
	out, err := tb.Query(t.Context(), &dynamodb.QueryInput{TableName: name(), IndexName: aws.String("by_state"), KeyConditionExpression: aws.String("state_pk = :o"), ExpressionAttributeValues: item{":o": str("open")}})
	if err != nil || out.Count != 0 {
		t.Errorf("an expired item is in the index: %+v, %v", out, err)
	}
}

// No value that a caller holds changes, and none that it changes reaches the table.
func TestValues_AreCopiedOnWrite(t *testing.T) {
	t.Parallel()

	tb := table.New(schema())
	inner := item{"k": number("1")}
	elements := []types.AttributeValue{str("a"), str("b")}
	blob, set := []byte("abc"), []string{"a", "b"}
	sort := &types.AttributeValueMemberS{Value: "s"}
	given := with(item{"pk": str("p"), "sk": sort}, item{"m": dict(inner), "l": list(elements...), "b": &types.AttributeValueMemberB{Value: blob}, "tags": texts(set...)})
	mustPut(t, tb, given)
	before := get(t, tb, key("p", "s"))
	text := read(before)

	inner["k"], elements[0], blob[0], set[0] = number("9"), str("z"), 'z', "z"
	given["more"] = str("x")
	sort.Value = "t"
	if got := read(get(t, tb, key("p", "s"))); got != text {
		t.Errorf("the caller's input changed the table: %s; want %s", got, text)
	}

	more, tags := &types.AttributeValueMemberL{Value: []types.AttributeValue{str("x")}}, &types.AttributeValueMemberSS{Value: []string{"c"}}
	values := item{":1": number("1"), ":x": more, ":s": tags}
	if _, err := tb.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: name(), Key: key("p", "s"), UpdateExpression: aws.String("SET m.k = m.k + :1, m.n = :x, l = :x ADD tags :s REMOVE b"), ExpressionAttributeValues: values,
	}); err != nil {
		t.Fatal(err)
	}
	if read(before) != text {
		t.Errorf("a later write changed what a reader holds: %s; want %s", read(before), text)
	}
	after := read(get(t, tb, key("p", "s")))
	more.Value[0], tags.Value[0] = str("changed"), "changed"
	if got := read(get(t, tb, key("p", "s"))); got != after {
		t.Errorf("values of an update changed the table: %s; want %s", got, after)
	}
}

func TestReservedWords(t *testing.T) {
	t.Parallel()

	tb := table.New(schema())
	for _, word := range strings.Fields("ABORT COUNT COUNTER count Data DATE HASH INDEX KEY KEYS LEVEL LIMIT NAME NAMES OWNER PATH PERCENT RANGE SECTION SIZE STATE STATUS TIME TIMESTAMP TTL TYPE URL USER UUID VALUE VALUES VERSION? VIEW ZONE") {
		word, free := strings.CutSuffix(word, "?")
		condition := "attribute_exists(" + word + ") OR attribute_not_exists(pk)"
		_, err := tb.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: name(), Item: key("p", word), ConditionExpression: &condition})
		if (err == nil) != free {
			t.Errorf("%s: error = %v", word, err)
		}
	}
}

// TestRacers is for the race detector, and for the lock around a condition and its write.
func TestRacers(t *testing.T) {
	t.Parallel()

	tb := table.New(schema())
	var racers sync.WaitGroup
	for i := range 8 {
		racers.Go(func() {
			for range 50 {
				_ = transact(t.Context(), tb, add("a"), add(fmt.Sprint(i)))
				_ = read(get(t, tb, key("p", "a")))
				_, _ = tb.Query(t.Context(), &dynamodb.QueryInput{TableName: name(), KeyConditionExpression: aws.String("pk = :p"), ExpressionAttributeValues: item{":p": str("p")}})
			}
		})
	}
	racers.Wait()
	if got := read(get(t, tb, key("p", "a"))); got != "[n:400]" {
		t.Errorf("400 racing additions count %s", got)
	}
}
