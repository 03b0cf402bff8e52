package strict_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/localstack/tools/iam"
	"surehook.example/surehook/localstack/tools/strict"
)

const (
	tableARN    = "arn:aws:dynamodb:us-east-1:000000000000:table/t"
	queueARN    = "arn:aws:sqs:us-east-1:000000000000:live"
	topicARN    = "arn:aws:sns:us-east-1:000000000000:x"
	keyARN      = "arn:aws:kms:us-east-1:000000000000:key/k"
	passedARN   = "arn:aws:iam::000000000000:role/passed"
	scheduleARN = "arn:aws:scheduler:us-east-1:000000000000:schedule/g/s"
	senderARN   = "arn:aws:lambda:us-east-1:000000000000:function:sender"
	schedulers  = "scheduler.amazonaws.com"
)

// asked is a request of a role, with the permissions that AWS requires for it.
type asked struct {
	name      string
	service   string
	operation string
	input     in
	needs     []iam.Call
	ours      bool // the front itself decides, and signs the forwarded request as the account
}

func allAsked() []asked {
	entries := []in{{"Id": "1", "MessageBody": "x"}}
	call := func(action, resource string) []iam.Call { return []iam.Call{{Action: action, Resource: resource}} }
	return []asked{
		{name: "an item", service: "dynamodb", operation: "GetItem", input: in{"TableName": "t", "Key": key("a", "b")}, needs: call("dynamodb:GetItem", tableARN)},
		{name: "a query of the table", service: "dynamodb", operation: "Query", input: in{
			"TableName": "t", "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": in{":p": in{"S": "a"}},
		}, needs: call("dynamodb:Query", tableARN)},
		{name: "a query of an index", service: "dynamodb", operation: "Query", input: in{
			"TableName": "t", "IndexName": "by_state", "KeyConditionExpression": "#s = :p",
			"ExpressionAttributeNames": in{"#s": "state"}, "ExpressionAttributeValues": in{":p": in{"S": "a"}},
		}, needs: call("dynamodb:Query", tableARN+"/index/by_state")},
		{name: "a batch read", service: "dynamodb", operation: "BatchGetItem", input: in{"RequestItems": in{"t": in{"Keys": []in{key("a", "b")}}}}, needs: call("dynamodb:BatchGetItem", tableARN)},
		{name: "a transaction", service: "dynamodb", operation: "TransactWriteItems", input: in{"TransactItems": []in{
			{"Delete": in{"TableName": "t", "Key": key("a", "x")}},
			{"Delete": in{"TableName": "t", "Key": key("a", "y")}},
			{"Put": in{"TableName": "t", "Item": key("a", "z")}},
		}}, needs: append(call("dynamodb:DeleteItem", tableARN), call("dynamodb:PutItem", tableARN)...)},
		{name: "a message", service: "sqs", operation: "SendMessage", input: in{"QueueUrl": queue, "MessageBody": "x"}, needs: call("sqs:SendMessage", queueARN)},
		{name: "a batch of messages", service: "sqs", operation: "SendMessageBatch", input: in{"QueueUrl": queue, "Entries": entries}, needs: call("sqs:SendMessage", queueARN), ours: true},
		{name: "the URL of a queue", service: "sqs", operation: "GetQueueUrl", input: in{"QueueName": "live"}, needs: call("sqs:GetQueueUrl", queueARN)},
		{name: "a notification", service: "sns", operation: "Publish", input: in{"TopicArn": topicARN, "Message": "x"}, needs: call("sns:Publish", topicARN)},
		{name: "an encryption", service: "kms", operation: "Encrypt", input: in{"KeyId": keyARN, "Plaintext": blob(1)}, needs: call("kms:Encrypt", keyARN)},
		{name: "a secret by its name", service: "secretsmanager", operation: "GetSecretValue", input: in{"SecretId": "name"}, needs: call("secretsmanager:GetSecretValue", "name"), ours: true},
		{name: "a schedule", service: "scheduler", operation: "POST /schedules/s", input: in{
			"GroupName": "g", "ScheduleExpression": "at(2026-11-22T13:00:00)", "FlexibleTimeWindow": in{"Mode": "OFF"}, "ClientToken": "c",
			"Target": in{"Arn": queueARN, "RoleArn": passedARN},
		}, needs: []iam.Call{{Action: "iam:PassRole", Resource: passedARN, PassedTo: schedulers}, {Action: "scheduler:CreateSchedule", Resource: scheduleARN}}, ours: true},
		{name: "a role", service: "sts", operation: "AssumeRole", input: in{"RoleArn": passedARN, "RoleSessionName": "ep_1"}, needs: call("sts:AssumeRole", passedARN)},
		{name: "an invocation", service: "lambda", operation: "sender", needs: call("lambda:InvokeFunction", senderARN)},
	}
}

func (b bundle) ask(t *testing.T, a asked) answer {
	t.Helper()
	if a.service == "lambda" {
		return b.send(t, "lambda", http.MethodPost, "/2015-03-31/functions/"+a.operation+"/invocations", http.Header{}, nil)
	}
	return b.call(t, a.service, a.operation, a.input)
}

func roleOf(calls []iam.Call) *iam.Role {
	role := &iam.Role{Name: "r", Account: "000000000000"}
	for _, c := range calls {
		g := iam.Grant{Action: c.Action, Resource: c.Resource}
		if c.PassedTo != "" {
			g.PassedTo = []string{c.PassedTo}
		}
		role.Grants = append(role.Grants, g)
	}
	return role
}

func TestFront_recordsWhatARoleNeeds(t *testing.T) {
	t.Parallel()

	for _, tt := range allAsked() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setupRole(t, roleOf(tt.needs))
			if got := b.ask(t, tt); got.status != http.StatusOK {
				t.Fatalf("the request is answered %d %s; want 200", got.status, got.body)
			}
			want := map[iam.Call]int{}
			for _, c := range tt.needs {
				want[c] = 1
			}
			if diff := cmp.Diff(want, b.Used("r")); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			wantSigned := b.key + " session"
			if tt.ours {
				wantSigned = "test "
			}
			if got := b.upstream.signed; len(got) != 1 || got[0] != wantSigned {
				t.Errorf("the front forwarded the key and token %q; want %q", got, wantSigned)
			}
			if got := b.upstream.tls; got[0] != "https" {
				t.Errorf("X-Forwarded-Proto = %q; want https: a policy could deny the request", got)
			}
		})
	}
}

// Each case lacks one grant. The emulator of this test permits everything.
func TestFront_refusesWhatTheEmulatorDoesNotCheck(t *testing.T) {
	t.Parallel()

	for _, tt := range allAsked() {
		for i, lacking := range tt.needs {
			t.Run(tt.name+" without "+lacking.Action, func(t *testing.T) {
				t.Parallel()

				b := setupRole(t, roleOf(append(append([]iam.Call{}, tt.needs[:i]...), tt.needs[i+1:]...)))
				got := b.ask(t, tt)
				if !tt.ours {
					if got.status != http.StatusOK {
						t.Errorf("the answer is %d; want the 200 of the emulator", got.status)
					}
					return
				}
				if got.status != http.StatusForbidden || !strings.HasPrefix(got.code(), "AccessDenied") || len(b.upstream.taken()) != 0 {
					t.Errorf("the answer is %d %s, and %d requests were forwarded; want a refusal", got.status, got.body, len(b.upstream.taken()))
				}
				wantDenied(t, b, lacking)
			})
		}
	}
}

func TestFront_recordsTheEmulatorsRefusals(t *testing.T) {
	t.Parallel()

	for _, tt := range allAsked() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setupRole(t, roleOf(tt.needs))
			b.upstream.status = http.StatusForbidden
			if got := b.ask(t, tt); got.status != http.StatusForbidden {
				t.Errorf("the answer is %d; want the 403 of the emulator", got.status)
			}
			if tt.service == "sts" { // refused by the trust policy of the other role, not for a missing grant
				if got := b.Used("r"); len(got) != 1 || b.Stop() != nil {
					t.Errorf("calls = %v; want the call, and no violation", got)
				}
				return
			}
			wantDenied(t, b, tt.needs[0])
			if got := b.Used("r"); len(got) != 0 {
				t.Errorf("calls = %v; want none", got)
			}
		})
	}
}

// A caller that has gone away, for example a function at the end of its time, breaks no rule.
func TestFront_forgivesACallerThatIsGone(t *testing.T) {
	t.Parallel()

	b := setupRole(t, roleOf(allAsked()[0].needs))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	body := `{"TableName": "t", "Key": {"pk": {"S": "a"}, "sk": {"S": "b"}}}`
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, b.URL, strings.NewReader(body))
	r.Header.Set("X-Amz-Target", targets()["dynamodb"]+".GetItem")
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+b.key+"/20261122/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=none")
	b.ServeHTTP(httptest.NewRecorder(), r)
	if got := b.Violations(); len(got) > 0 {
		t.Errorf("violations %v; want none", got)
	}
}

func wantDenied(t *testing.T, b bundle, call iam.Call) {
	t.Helper()
	got := b.Violations()
	if len(got) != 1 || got[0].Code != "AccessDenied" || !strings.Contains(got[0].Message, call.String()) {
		t.Errorf("violations = %v; want one of %s", got, call)
	}
	if err := b.Stop(); err == nil || !strings.Contains(err.Error(), strict.ErrViolations.Error()) {
		t.Errorf("Stop() = %v; want the violation", err)
	}
}
