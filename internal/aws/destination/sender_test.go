package destination_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/smithy-go/middleware"
	"github.com/google/go-cmp/cmp"
	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"surehook.example/surehook/internal/aws/destination"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	rule "surehook.example/surehook/internal/rule/destination"
	"surehook.example/surehook/internal/rule/shape"
	"surehook.example/surehook/internal/rule/sign"
)

const (
	secret   = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	queueURL = "https://sqs.eu-west-1.amazonaws.com/111122223333/orders"
	busARN   = "arn:aws:events:us-west-2:111122223333:event-bus/orders"
	topicARN = "arn:aws:sns:us-west-2:111122223333:orders"
	fifoURL  = "https://sqs.us-west-2.amazonaws.com/111122223333/orders.fifo"
	stream   = "arn:aws:kinesis:us-west-2:111122223333:stream/orders"
	roleARN  = "arn:aws:iam::111122223333:role/surehook/orders"
	delivery = "dlv_01h455vb4pex5vsknk084sn02q_0123456789abcdef_2"
)

// addresses are those of the types that are not at queueURL.
func addresses() map[hook.DestinationType]string {
	return map[hook.DestinationType]string{rule.EventBridge: busARN, rule.SNS: topicARN, rule.SQSFIFO: fifoURL, rule.Kinesis: stream}
}

// call is one request to the fake.
type call struct {
	operation string
	region    string // of the signature
	key       string // that signed
	values    url.Values
	input     input
}

// input is the body of a request in JSON.
type input struct {
	QueueURL   string               `json:"QueueUrl"`
	Body       string               `json:"MessageBody"`
	Attributes map[string]attribute `json:"MessageAttributes"`
	Entries    []entry              `json:"Entries"`

	Group         string `json:"MessageGroupId"`
	Deduplication string `json:"MessageDeduplicationId"`

	Stream string `json:"StreamARN"`
	Key    string `json:"PartitionKey"`
	Data   []byte `json:"Data"`
}

type attribute struct {
	Value string `json:"StringValue"`
}

type entry struct {
	Bus        string `json:"EventBusName"`
	Source     string `json:"Source"`
	DetailType string `json:"DetailType"`
	Detail     string `json:"Detail"`
}

// reply is an answer with an error code, or a success if the code is empty.
type reply struct {
	status int
	code   string
}

// fake is STS, SQS, SNS, EventBridge and Kinesis. Each session has a key with its number.
type fake struct {
	mu      sync.Mutex
	calls   []call
	replies map[string][]reply // by operation; success after the last
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()

	body, _ := io.ReadAll(r.Body)
	_, scope, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	parts := strings.Split(scope, "/")
	c := call{key: parts[0], region: parts[2]}
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		_, c.operation, _ = strings.Cut(target, ".")
		_ = json.Unmarshal(body, &c.input)
	} else {
		c.values, _ = url.ParseQuery(string(body))
		c.operation = c.values.Get("Action")
	}
	f.calls = append(f.calls, c)
	var now reply
	if next := f.replies[c.operation]; len(next) > 0 {
		now, f.replies[c.operation] = next[0], next[1:]
	}
	sessions := 0
	for _, c := range f.calls {
		if c.operation == "AssumeRole" {
			sessions++
		}
	}
	w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
	switch {
	case now.status == http.StatusOK && now.code != "": // an entry that failed
		_, _ = fmt.Fprintf(w, `{"FailedEntryCount":1,"Entries":[{"ErrorCode":%q,"ErrorMessage":"no"}]}`, now.code)
	case now.code != "" && c.values != nil:
		w.WriteHeader(now.status)
		_, _ = fmt.Fprintf(w, `<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>no</Message></Error></ErrorResponse>`, now.code)
	case now.code != "":
		w.WriteHeader(now.status)
		_, _ = fmt.Fprintf(w, `{"__type":"aws#%s","message":"no"}`, now.code)
	case c.operation == "AssumeRole":
		_, _ = fmt.Fprintf(w, `<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>ASIA%d</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`, sessions)
	case c.operation == "Publish":
		_, _ = io.WriteString(w, `<PublishResponse><PublishResult><MessageId>t-1</MessageId></PublishResult></PublishResponse>`)
	case c.operation == "PutRecord":
		_, _ = io.WriteString(w, `{"SequenceNumber":"s-1","ShardId":"shardId-000000000000"}`)
	case c.operation == "SendMessage":
		_, _ = io.WriteString(w, `{"MessageId":"m-1"}`)
	default:
		_, _ = io.WriteString(w, `{"FailedEntryCount":0,"Entries":[{"EventId":"e-1"}]}`)
	}
}

func (f *fake) operations() string {
	f.mu.Lock()
	defer f.mu.Unlock()

	var all []string
	for _, c := range f.calls {
		all = append(all, c.operation)
	}
	return strings.Join(all, " ")
}

func setup(t *testing.T) (*destination.Sender, *fake) {
	t.Helper()

	f := &fake{replies: map[string][]reply{}}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return newSender(server.URL), f
}

func newSender(address string) *destination.Sender {
	cfg := aws.Config{
		Region: "eu-central-1", Credentials: credentials.NewStaticCredentialsProvider("OWN", "key", ""),
		BaseEndpoint: &address, RetryMaxAttempts: 3,
		APIOptions: []func(*middleware.Stack) error{func(*middleware.Stack) error {
			return errors.New("the requests of customers' resources are watched")
		}},
	}
	signer := &send.Sender{UserAgent: "Surehook/1.2.3", Now: time.Now}
	return destination.New(cfg, signer, hook.Destinations{RolePath: "/surehook/", Account: "999988887777"})
}

func request(t *testing.T, d hook.DestinationType, payload string) send.Request {
	t.Helper()

	id, err := hook.ParseDeliveryID(delivery)
	if err != nil {
		t.Fatal(err)
	}
	key, err := sign.Parse(secret)
	if err != nil {
		t.Fatal(err)
	}
	e := &hook.Endpoint{
		ID: "ep_1", URL: queueURL, Timeout: hook.MaxTimeout, Profiles: hook.ProfilesNamed(hook.ProfileStandard),
		Destination: hook.Destination{Type: d, Settings: map[string]string{rule.RoleARN: roleARN}, ExternalID: "x-1"},
	}
	if address, ok := addresses()[d]; ok {
		e.URL = address
	}
	if d == rule.EventBridge {
		e.Destination.Settings[rule.Source] = "com.example.shop"
	}
	return send.Request{
		Endpoint: e, Keys: []sign.Key{key}, Delivery: id, Attempt: 3,
		Event:   &hook.Event{ID: "evt_01h455vb4pex5vsknk084sn02q", Type: "order.paid", Payload: []byte(payload)},
		Content: shape.Content{Body: []byte(payload), ContentType: shape.JSON},
	}
}

// verify checks the signature with the library of Standard Webhooks.
func verify(t *testing.T, body, id, timestamp, signature string) {
	t.Helper()

	webhook, err := standard.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	headers := http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {timestamp}, "Webhook-Signature": {signature}}
	if err := webhook.Verify([]byte(body), headers); err != nil {
		t.Errorf("Verify(%q) = %v", body, err)
	}
}

func TestSender_Send_queue(t *testing.T) {
	t.Parallel()

	const payload = `{"b": 1,  "a":"<é & \u0001>"}`
	s, f := setup(t)
	got := s.Send(t.Context(), request(t, rule.SQS, payload))
	got.Duration = 0
	if diff := cmp.Diff(hook.Outcome{Class: hook.ClassDelivered, Status: 200, URL: queueURL, Body: []byte("m-1")}, got); diff != "" {
		t.Fatalf("Send() differs (-want +got):\n%s", diff)
	}
	role, message := f.calls[0], f.calls[1]
	for name, want := range map[string]string{"RoleArn": roleARN, "ExternalId": "x-1", "RoleSessionName": "ep_1", "DurationSeconds": "900"} {
		if got := role.values.Get(name); got != want {
			t.Errorf("AssumeRole has %s = %q; want %q", name, got, want)
		}
	}
	if role.key != "OWN" || role.region != "eu-central-1" || message.key != "ASIA1" || message.region != "eu-west-1" {
		t.Errorf("signed by %s in %s, then by %s in %s; want the own key here, then the session's in the queue's region", role.key, role.region, message.key, message.region)
	}
	attributes := map[string]string{}
	for name, a := range message.input.Attributes {
		attributes[name] = a.Value
	}
	body := message.input.Body
	if body != payload || message.input.QueueURL != queueURL {
		t.Errorf("message %q to %s; want the same bytes to the queue", body, message.input.QueueURL)
	}
	verify(t, body, attributes["webhook-id"], attributes["webhook-timestamp"], attributes["webhook-signature"])
	delete(attributes, "webhook-timestamp")
	delete(attributes, "webhook-signature")
	want := map[string]string{
		"webhook-id": "evt_01h455vb4pex5vsknk084sn02q", "x-webhook-event": "order.paid", "x-webhook-attempt": "3", "user-agent": "Surehook/1.2.3",
		"x-webhook-delivery": delivery, "content-type": "application/json",
		"traceparent": attributes["traceparent"],
	}
	if diff := cmp.Diff(want, attributes); diff != "" {
		t.Errorf("attributes differ (-want +got):\n%s", diff)
	}
}

// A test event says whether the role asks for the external id. Other events do not try.
func TestSender_Send_withoutExternalID(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		test    bool
		replies []reply // to AssumeRole
		asked   int
		warned  bool
	}{
		"a test event":                        {test: true, replies: []reply{{}, {403, "AccessDenied"}}, asked: 2},
		"a test event, and the role is open":  {test: true, asked: 2, warned: true},
		"another event, and the role is open": {asked: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s, f := setup(t)
			f.replies["AssumeRole"] = tt.replies
			r := request(t, rule.SQS, `{}`)
			if tt.test {
				r.Event.ID = r.Event.ID.ForTest(false)
			}
			got := s.Send(t.Context(), r)
			if warned := strings.Contains(got.Error, "external_id"); got.Class != hook.ClassDelivered || warned != tt.warned {
				t.Errorf("Send() = %s %q; want delivered, warned: %t", got.Class, got.Error, tt.warned)
			}
			asked := 0
			for _, c := range f.calls {
				if c.operation == "AssumeRole" {
					asked++
				}
			}
			if asked != tt.asked {
				t.Errorf("%d requests for the role; want %d", asked, tt.asked)
			}
			if last := f.calls[len(f.calls)-1]; tt.test && (last.operation != "AssumeRole" || last.values.Has("ExternalId")) {
				t.Errorf("the last request is %s %v; want the role, without an external id", last.operation, last.values)
			}
		})
	}
}

func TestSender_Send_bus(t *testing.T) {
	t.Parallel()

	const payload = `{"b": 1,  "a":"<é & \u0001 ` + "\u2028\uffff" + `>"}`
	s, f := setup(t)
	if got := s.Send(t.Context(), request(t, rule.EventBridge, payload)); got.Class != hook.ClassDelivered || string(got.Body) != "e-1" {
		t.Fatalf("Send() = %+v; want delivered", got)
	}
	event := f.calls[1]
	put := event.input.Entries[0]
	if event.region != "us-west-2" || put.Bus != busARN || put.Source != "com.example.shop" || put.DetailType != "order.paid" {
		t.Errorf("PutEvents in %s has %v", event.region, put)
	}
	checkDocument(t, put.Detail, payload)
}

// checkDocument checks a message without attributes.
func checkDocument(t *testing.T, text, payload string) {
	t.Helper()

	var got struct {
		ID        string         `json:"id"`
		Type      string         `json:"type"`
		Timestamp string         `json:"timestamp"`
		Signature string         `json:"signature"`
		Delivery  string         `json:"delivery"`
		Attempt   string         `json:"attempt"`
		Body      string         `json:"body"`
		Payload   map[string]any `json:"payload"`
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if got.Type != "order.paid" || got.Body != payload || got.Payload["b"] != 1.0 || got.Attempt != "3" || got.Delivery != delivery {
		t.Errorf("the message is %s; want the signed body, and the payload beside it", text)
	}
	verify(t, got.Body, got.ID, got.Timestamp, got.Signature)
}

func TestSender_Send_topic(t *testing.T) {
	t.Parallel()

	const payload = `{"b": 1,  "a":"<é & \u0001>"}`
	s, f := setup(t)
	if got := s.Send(t.Context(), request(t, rule.SNS, payload)); got.Class != hook.ClassDelivered || string(got.Body) != "t-1" {
		t.Fatalf("Send() = %+v; want delivered", got)
	}
	message := f.calls[1]
	if message.region != "us-west-2" || message.values.Get("TopicArn") != topicARN || message.values.Get("Message") != payload {
		t.Errorf("Publish in %s has %v; want the same bytes to the topic in its region", message.region, message.values)
	}
	attributes := map[string]string{}
	for i := 1; message.values.Has(fmt.Sprintf("MessageAttributes.entry.%d.Name", i)); i++ {
		entry := fmt.Sprintf("MessageAttributes.entry.%d.", i)
		attributes[message.values.Get(entry+"Name")] = message.values.Get(entry + "Value.StringValue")
	}
	if len(attributes) > 10 {
		t.Errorf("%d attributes; a queue with raw messages gets 10 at most", len(attributes))
	}
	if attributes["x-webhook-event"] != "order.paid" || attributes["x-webhook-delivery"] != delivery {
		t.Errorf("attributes %v; want the headers of a request", attributes)
	}
	verify(t, message.values.Get("Message"), attributes["webhook-id"], attributes["webhook-timestamp"], attributes["webhook-signature"])
}

// A FIFO queue drops what it has already. It must neither drop another event, a replay or the
// delivery of another endpoint, nor take a repeated attempt twice.
func TestSender_Send_fifo(t *testing.T) {
	t.Parallel()

	s, f := setup(t)
	base := func() send.Request { return request(t, rule.SQSFIFO, `{"customer":{"id":"c-7"}}`) }
	batch := func(members string) send.Request {
		r := base()
		r.Event = &hook.Event{ID: hook.EventID("bat_" + members), Type: hook.BatchEventType, Payload: []byte(`{"events":[]}`)}
		return r
	}
	again, replayed, other, grouped := base(), base(), base(), base()
	again.Attempt++
	replayed.Delivery.Generation++
	other.Delivery.Endpoint = "ep_2"
	grouped.Endpoint.Destination.Settings[rule.GroupBy] = "customer.id"
	type ids struct{ Group, Deduplication string }
	const event = "evt_01h455vb4pex5vsknk084sn02q"
	var got []ids
	for _, r := range []send.Request{base(), again, replayed, other, grouped, batch("1"), batch("2")} {
		if o := s.Send(t.Context(), r); o.Class != hook.ClassDelivered || string(o.Body) != "m-1" {
			t.Fatalf("Send() = %+v; want delivered", o)
		}
		in := f.calls[len(f.calls)-1].input
		if in.QueueURL != fifoURL || len(in.Attributes) == 0 {
			t.Errorf("message %+v; want one to the queue, with attributes", in)
		}
		got = append(got, ids{in.Group, in.Deduplication})
	}
	want := []ids{
		{event, delivery},
		{event, delivery},
		{event, replayed.Delivery.String()},
		{event, other.Delivery.String()},
		{"c-7", delivery},
		{"bat_1", "bat_1"},
		{"bat_2", "bat_2"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ids differ (-want +got):\n%s", diff)
	}
	if replayed.Delivery.String() == delivery || other.Delivery.String() == delivery {
		t.Error("a replay or another endpoint has the same delivery id")
	}
}

func TestSender_Send_stream(t *testing.T) {
	t.Parallel()

	const payload = `{"b": 1,  "a":"<é & \u0001 ` + "\u2028\uffff" + `>", "customer":{"id":"c-7"}}`
	s, f := setup(t)
	r := request(t, rule.Kinesis, payload)
	for _, key := range []string{"evt_01h455vb4pex5vsknk084sn02q", "c-7"} {
		if got := s.Send(t.Context(), r); got.Class != hook.ClassDelivered || string(got.Body) != "s-1" {
			t.Fatalf("Send() = %+v; want delivered", got)
		}
		record := f.calls[len(f.calls)-1]
		if record.region != "us-west-2" || record.input.Stream != stream || record.input.Key != key {
			t.Errorf("PutRecord in %s to %s has the key %s; want %s", record.region, record.input.Stream, record.input.Key, key)
		}
		checkDocument(t, string(record.input.Data), payload)
		r.Endpoint.Destination.Settings[rule.GroupBy] = "customer.id"
	}
}

// TestSender_Send_outcomes is the table of docs/destinations.md.
func TestSender_Send_outcomes(t *testing.T) {
	t.Parallel()

	const assume, message, event, topic, record = "AssumeRole", "SendMessage", "PutEvents", "Publish", "PutRecord"
	types := map[string]hook.DestinationType{event: rule.EventBridge, topic: rule.SNS, record: rule.Kinesis}
	tests := []struct {
		operation string
		reply     reply
		want      hook.Class
		status    int
	}{
		{assume, reply{403, "AccessDenied"}, hook.ClassToken, 403},
		{assume, reply{400, "ValidationError"}, hook.ClassToken, 403},
		{assume, reply{403, "RegionDisabledException"}, hook.ClassToken, 403},
		{assume, reply{400, "Throttling"}, hook.ClassThrottled, 429},
		{assume, reply{500, "InternalFailure"}, hook.ClassUnavailable, 500},
		{message, reply{403, "AccessDenied"}, hook.ClassToken, 403},
		{message, reply{403, "AccessDeniedException"}, hook.ClassToken, 403},
		{message, reply{400, "KmsAccessDenied"}, hook.ClassToken, 403},
		{message, reply{400, "KmsDisabled"}, hook.ClassToken, 403},
		{message, reply{403, "ExpiredToken"}, hook.ClassToken, 403},
		{message, reply{403, "InvalidClientTokenId"}, hook.ClassToken, 403},
		{message, reply{400, "QueueDoesNotExist"}, hook.ClassRefused, 404},
		{message, reply{400, "AWS.SimpleQueueService.NonExistentQueue"}, hook.ClassRefused, 404},
		{message, reply{400, "InvalidMessageContents"}, hook.ClassRefused, 400},
		{message, reply{400, "InvalidParameterValue"}, hook.ClassRefused, 400},
		{message, reply{400, "RequestThrottled"}, hook.ClassThrottled, 429},
		{message, reply{400, "KmsThrottled"}, hook.ClassThrottled, 429},
		{message, reply{503, "ServiceUnavailable"}, hook.ClassUnavailable, 503},
		{message, reply{400, "Unheard"}, hook.ClassUnavailable, 503},
		{event, reply{200, "AccessDeniedException"}, hook.ClassToken, 403},
		{event, reply{200, "NotAuthorizedForSourceException"}, hook.ClassToken, 403},
		{event, reply{200, "ThrottlingException"}, hook.ClassThrottled, 429},
		{event, reply{200, "InternalFailure"}, hook.ClassUnavailable, 503},
		{event, reply{200, "MalformedDetail"}, hook.ClassRefused, 400},
		{event, reply{200, "InvalidArgument"}, hook.ClassRefused, 400},
		{event, reply{400, "ResourceNotFoundException"}, hook.ClassRefused, 404},
		{event, reply{400, "ValidationException"}, hook.ClassRefused, 400},
		{event, reply{500, "InternalException"}, hook.ClassUnavailable, 500},
		{topic, reply{403, "AuthorizationError"}, hook.ClassToken, 403},
		{topic, reply{400, "KMSAccessDenied"}, hook.ClassToken, 403},
		{topic, reply{400, "KMSDisabled"}, hook.ClassToken, 403},
		{topic, reply{400, "KMSThrottling"}, hook.ClassThrottled, 429},
		{topic, reply{429, "Throttled"}, hook.ClassThrottled, 429},
		{topic, reply{400, "Throttling"}, hook.ClassThrottled, 429},
		{topic, reply{404, "NotFound"}, hook.ClassRefused, 404},
		{topic, reply{400, "InvalidParameter"}, hook.ClassRefused, 400},
		{topic, reply{400, "ParameterValueInvalid"}, hook.ClassRefused, 400},
		{topic, reply{500, "InternalError"}, hook.ClassUnavailable, 500},
		{record, reply{400, "AccessDeniedException"}, hook.ClassToken, 403},
		{record, reply{400, "KMSAccessDeniedException"}, hook.ClassToken, 403},
		{record, reply{400, "KMSOptInRequired"}, hook.ClassToken, 403},
		{record, reply{400, "KMSThrottlingException"}, hook.ClassThrottled, 429},
		{record, reply{400, "ProvisionedThroughputExceededException"}, hook.ClassThrottled, 429},
		{record, reply{400, "ResourceNotFoundException"}, hook.ClassRefused, 404},
		{record, reply{400, "InvalidArgumentException"}, hook.ClassRefused, 400},
		{record, reply{400, "ValidationException"}, hook.ClassRefused, 400},
		{record, reply{400, "ResourceInUseException"}, hook.ClassUnavailable, 503},
		{record, reply{500, "InternalFailureException"}, hook.ClassUnavailable, 500},
	}
	for _, tt := range tests {
		t.Run(tt.operation+" "+tt.reply.code, func(t *testing.T) {
			t.Parallel()

			s, f := setup(t)
			f.replies[tt.operation] = []reply{tt.reply}
			d, ok := types[tt.operation]
			if !ok {
				d = rule.SQS
			}
			got := s.Send(t.Context(), request(t, d, `{}`))
			if got.Class != tt.want || got.Status != tt.status || got.Error == "" || !strings.Contains(string(got.Body), "no") {
				t.Errorf("Send() = %s %d %q %q; want %s %d, with a text and AWS's answer", got.Class, got.Status, got.Error, got.Body, tt.want, tt.status)
			}
			if n := strings.Count(f.operations(), tt.operation); n != 1 {
				t.Errorf("%d requests %s; want one", n, tt.operation)
			}
		})
	}
}

// A session is kept for its endpoint only. The first denial drops it, so that a repaired role
// takes effect at once.
func TestSender_Send_sessions(t *testing.T) {
	t.Parallel()

	s, f := setup(t)
	r := request(t, rule.SQS, `{}`)
	attempt := func(want hook.Class) {
		t.Helper()
		if got := s.Send(t.Context(), r); got.Class != want {
			t.Errorf("Send() = %s %q; want %s", got.Class, got.Error, want)
		}
	}
	attempt(hook.ClassDelivered)
	attempt(hook.ClassDelivered)
	f.replies["SendMessage"] = []reply{{503, "ServiceUnavailable"}, {403, "AccessDenied"}}
	attempt(hook.ClassUnavailable)
	attempt(hook.ClassToken)
	f.replies["AssumeRole"] = []reply{{403, "AccessDenied"}}
	attempt(hook.ClassToken)
	attempt(hook.ClassDelivered)
	attempt(hook.ClassDelivered)
	r.Endpoint.Destination.ExternalID = "x-2"
	attempt(hook.ClassDelivered)
	r.Endpoint.ID = "ep_2"
	attempt(hook.ClassDelivered)
	const assume, put = "AssumeRole", "SendMessage"
	want := []string{assume, put, put, put, put, assume, assume, put, put, assume, put, assume, put}
	if diff := cmp.Diff(want, strings.Fields(f.operations())); diff != "" {
		t.Errorf("requests differ (-want +got):\n%s", diff)
	}
}

// If AWS would refuse the event, or the deployment does not allow the destination, no request is
// made to it.
func TestSender_Send_notSent(t *testing.T) {
	t.Parallel()

	sqs, bus := rule.SQS, rule.EventBridge
	large := func(n int) string { return `"` + strings.Repeat("x", n-2) + `"` }
	tests := []struct {
		name    string
		to      hook.DestinationType
		payload string
		edit    func(*hook.Endpoint)
		want    hook.Class
		text    string
	}{
		{name: "a character without a transport", to: sqs, payload: "{\"a\":\"\uffff\"}", want: hook.ClassRefused, text: "byte 6 begins a character"},
		{name: "a broken character", to: sqs, payload: "\"\xff\"", want: hook.ClassRefused, text: "not UTF-8"},
		{name: "a message that is too large", to: sqs, payload: large(1 << 20), want: hook.ClassRefused, text: "sqs takes messages of at most 1048576 bytes"},
		{name: "an event that is too large", to: bus, payload: large(1 << 19), want: hook.ClassRefused, text: "eventbridge takes messages of at most 1048575 bytes"},
		{name: "an event that is just not too large", to: bus, payload: large(1<<19 - 300), want: hook.ClassDelivered},
		{name: "a broken character for a bus", to: bus, payload: "\"\xff\"", want: hook.ClassRefused, text: "not UTF-8"},
		{name: "a character without a transport for a topic", to: rule.SNS, payload: "{\"a\":\"\uffff\"}", want: hook.ClassRefused, text: "byte 6 begins a character"},
		{name: "a message that is too large for a topic", to: rule.SNS, payload: large(256 << 10), want: hook.ClassRefused, text: "sns takes messages of at most 262144 bytes"},
		{name: "a message that is just not too large for a topic", to: rule.SNS, payload: large(256<<10 - 700), want: hook.ClassDelivered},
		{name: "a message that is too large for a FIFO queue", to: rule.SQSFIFO, payload: large(1 << 20), want: hook.ClassRefused, text: "sqs_fifo takes messages of at most 1048576 bytes"},
		{name: "a record that is too large", to: rule.Kinesis, payload: large(1 << 19), want: hook.ClassRefused, text: "kinesis takes messages of at most 1048576 bytes"},
		{name: "a record that is just not too large", to: rule.Kinesis, payload: large(1<<19 - 300), want: hook.ClassDelivered},
		{name: "a record that is not JSON", to: rule.Kinesis, payload: "paid", want: hook.ClassRefused, text: "AWS does not take the event"},
		{name: "the own account's topic", to: rule.SNS, payload: "1", edit: func(e *hook.Endpoint) { e.URL = "arn:aws:sns:eu-west-1:999988887777:alerts" }, want: hook.ClassBlocked, text: "url must not be in the account of Surehook"},
		{name: "the own account's stream", to: rule.Kinesis, payload: "1", edit: func(e *hook.Endpoint) { e.URL = "arn:aws:kinesis:eu-west-1:999988887777:stream/s" }, want: hook.ClassBlocked, text: "url must not be in the account of Surehook"},
		{name: "the own account's queue", to: sqs, payload: "1", edit: func(e *hook.Endpoint) { e.URL = "https://sqs.eu-west-1.amazonaws.com/999988887777/live" }, want: hook.ClassBlocked, text: "url must not be in the account of Surehook"},
		{name: "the own account's bus", to: bus, payload: "1", edit: func(e *hook.Endpoint) { e.URL = "arn:aws:events:eu-west-1:999988887777:event-bus/default" }, want: hook.ClassBlocked, text: "url must not be in the account of Surehook"},
		{name: "the own account's role", to: sqs, payload: "1", edit: func(e *hook.Endpoint) {
			e.Destination.Settings[rule.RoleARN] = "arn:aws:iam::999988887777:role/surehook/x"
		}, want: hook.ClassBlocked, text: "role_arn must not be in the account"},
		{name: "a role of another path", to: sqs, payload: "1", edit: func(e *hook.Endpoint) { e.Destination.Settings[rule.RoleARN] = "arn:aws:iam::111122223333:role/orders" }, want: hook.ClassBlocked, text: "a role with the path /surehook/"},
		{name: "no address", to: sqs, payload: "1", edit: func(e *hook.Endpoint) { e.URL = "https://example.com/" }, want: hook.ClassBlocked, text: "url is not an address"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			s, f := setup(t)
			r := request(t, tt.to, tt.payload)
			if tt.edit != nil {
				tt.edit(r.Endpoint)
			}
			got := s.Send(t.Context(), r)
			if got.Class != tt.want || !strings.Contains(got.Error, tt.text) {
				t.Errorf("Send() = %s %q; want %s %q", got.Class, got.Error, tt.want, tt.text)
			}
			sent := strings.Contains(f.operations(), " ") // after AssumeRole
			if sent != (tt.want == hook.ClassDelivered) || tt.want == hook.ClassBlocked && f.operations() != "" {
				t.Errorf("requests %q after %s", f.operations(), tt.want)
			}
		})
	}
}

func TestSender_Send_unanswered(t *testing.T) {
	t.Parallel()

	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	if got := newSender(server.URL).Send(t.Context(), request(t, rule.SQS, `{}`)); got.Class != hook.ClassConnect {
		t.Errorf("Send(nobody) = %s %q; want connect", got.Class, got.Error)
	}
	hang := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(func() { close(hang); slow.Close() })
	r := request(t, rule.SQS, `{}`)
	r.Endpoint.Timeout = time.Millisecond
	if got := newSender(slow.URL).Send(t.Context(), r); got.Class != hook.ClassTimeout || got.Error != "The endpoint did not answer in time." {
		t.Errorf("Send(slow) = %s %q; want timeout", got.Class, got.Error)
	}
}
