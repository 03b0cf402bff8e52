package strict_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/localstack/tools/strict"
)

func TestFront_aFiredScheduleKeepsItsName(t *testing.T) {
	t.Parallel()

	b := setup(t)
	create := in{
		"GroupName": "retries", "ScheduleExpression": "at(2026-11-22T12:20:00)", "ActionAfterCompletion": "DELETE",
		"FlexibleTimeWindow": in{"Mode": "OFF"}, "Target": in{"Arn": "a", "RoleArn": "r"},
	}
	again := with(create, "ScheduleExpression", "at(2026-11-22T13:00:00)")
	fired := noon.Add(20 * time.Minute)
	steps := []struct {
		name      string
		at        time.Time
		operation string
		input     in
		want      string
	}{
		{name: "created", at: noon, operation: "POST /schedules/a", input: create},
		{name: "before its time, the emulator decides", at: fired.Add(-time.Second), operation: "POST /schedules/a", input: with(create, "ScheduleExpression", "at(2026-11-22T12:20:00)")},
		{name: "fired", at: fired, operation: "POST /schedules/a", input: again, want: "ConflictException"},
		{name: "another name", at: fired, operation: "POST /schedules/b", input: again},
		{name: "another group", at: fired, operation: "POST /schedules/a", input: with(again, "GroupName", "others")},
		{name: "minutes later", at: fired.Add(5*time.Minute - 1), operation: "POST /schedules/a", input: again, want: "ConflictException"},
		{name: "deleted", at: fired.Add(time.Minute), operation: "DELETE /schedules/a?groupName=retries"},
		{name: "after its deletion", at: fired.Add(time.Minute), operation: "POST /schedules/a", input: again},
	}
	for _, s := range steps {
		*b.now = s.at
		if got := b.call(t, "scheduler", s.operation, s.input); got.code() != s.want {
			t.Errorf("%s: %s is answered %d %s; want %q", s.name, s.operation, got.status, got.body, s.want)
		}
	}
	*b.now = noon.Add(time.Hour + 5*time.Minute)
	if got := b.call(t, "scheduler", "POST /schedules/a", with(create, "ScheduleExpression", "at(2026-11-22T15:00:00)")); got.code() != "" {
		t.Errorf("five minutes after the second time: %d %s; want the name free", got.status, got.body)
	}
	if v := b.Violations(); len(v) != 0 {
		t.Errorf("violations = %v; want none, AWS answers a conflict to valid requests", v)
	}
}

func TestFront_aPartitionKeyHas1000WriteUnitsPerSecond(t *testing.T) {
	t.Parallel()

	b := setup(t)
	write := func(pk, state string, size int) string {
		t.Helper()
		item := with(key(pk, "b"), "v", in{"S": text(size)})
		if state != "" {
			item["state"] = in{"S": state}
		}
		return b.call(t, "dynamodb", "PutItem", in{"TableName": "t", "Item": item}).code()
	}
	const full = 250 << 10 // 251 units, with the keys
	for n := range 4 {
		if got := write("a", "dead", full); got != "" {
			t.Fatalf("write %d of 251 units is answered %s; want success up to 1,000 units", n+1, got)
		}
	}
	for name, got := range map[string]string{
		"the key":                write("a", "", 1),
		"the same key of index":  write("b", "dead", 1),
		"another key":            write("c", "", 1),
		"another key of index":   write("d", "live", 1),
		"a transaction on a key": b.call(t, "dynamodb", "TransactWriteItems", in{"TransactItems": []in{{"Delete": in{"TableName": "t", "Key": key("a", "x")}}}}).code(),
	} {
		want := ""
		if !strings.HasPrefix(name, "another") {
			want = "ThrottlingException"
		}
		if got != want {
			t.Errorf("%s: answered %q; want %q", name, got, want)
		}
	}
	*b.now = noon.Add(time.Second)
	if got := write("a", "dead", 1); got != "" {
		t.Errorf("in the next second: answered %q; want success", got)
	}
}

func TestFront_sendsAMessageTwice(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.Inject(strict.Faults{Copies: 1})
	b.call(t, "sqs", "SendMessage", in{"QueueUrl": queue, "MessageBody": "one"})
	b.call(t, "sqs", "SendMessageBatch", in{"QueueUrl": queue, "Entries": []in{{"Id": "a", "MessageBody": "two"}, {"Id": "b", "MessageBody": "three"}}})
	b.call(t, "sqs", "ReceiveMessage", in{"QueueUrl": queue})
	got := b.upstream.taken()
	if len(got) != 5 || got[0] != got[1] || got[2] != got[3] {
		t.Errorf("forwarded = %q; want each send twice and the receive once", got)
	}
	if got := fmt.Sprint(b.Copied()); got != "[one two three]" {
		t.Errorf("Copied() = %s; want every sent message", got)
	}
	b.Inject(strict.Faults{})
	b.call(t, "sqs", "SendMessage", in{"QueueUrl": queue, "MessageBody": "four"})
	if got := len(b.upstream.taken()); got != 6 {
		t.Errorf("%d requests were forwarded; want one more without faults", got)
	}
}

func TestFront_repeatsTheFaultsOfASeed(t *testing.T) {
	t.Parallel()

	run := func(seed uint64) string {
		b := setup(t)
		b.Inject(strict.Faults{Seed: seed, Throttle: 0.3})
		var codes []string
		for range 40 {
			code := b.call(t, "dynamodb", "GetItem", in{"TableName": "t", "Key": key("a", "b")}).code()
			if code != "" && len(codes) > 0 && codes[len(codes)-1] != "" {
				t.Error("the same request is throttled twice in a row")
			}
			codes = append(codes, code)
		}
		throttled := strings.Count(strings.Join(codes, " "), "ThrottlingException")
		if throttled == 0 || throttled == len(codes) || throttled != b.Throttled() || len(b.Violations()) != 0 {
			t.Errorf("%d of %d requests are throttled, Throttled() = %d, violations %v; want some, and no violation", throttled, len(codes), b.Throttled(), b.Violations())
		}
		return strings.Join(codes, " ")
	}
	one := run(1)
	if again := run(1); again != one {
		t.Errorf("two runs of one seed differ: %s and %s", one, again)
	}
	if run(2) == one {
		t.Error("two seeds give one run")
	}
}

func TestFront_refusesABodyThatIsNoObject(t *testing.T) {
	t.Parallel()

	b := setup(t)
	for _, body := range []string{"null", "[]", "{", "{} {}"} {
		got := b.send(t, "sqs", http.MethodPost, "/", http.Header{"X-Amz-Target": {"AmazonSQS.SendMessage"}}, []byte(body))
		if got.status != http.StatusBadRequest {
			t.Errorf("the body %s is answered %d; want 400", body, got.status)
		}
	}
}
