package main

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"surehook.example/surehook/internal/memory"
)

// latency is the least time to an answer.
const latency = time.Millisecond

// services are DynamoDB, SQS and KMS for functions: a table in
// this process, queues that only take messages, and a key that changes nothing.
type services struct {
	operations map[string]func(ctx context.Context, body []byte) (any, error) // by X-Amz-Target

	mu       sync.Mutex
	requests int
	queues   map[string][]message // by the name of the queue
}

// message is a message of a queue.
type message struct{ body, group string }

func newServices() *services {
	t := memory.NewStore().Table
	s := &services{queues: make(map[string][]message)}
	s.operations = map[string]func(context.Context, []byte) (any, error){
		"DynamoDB_20120810.GetItem":            operation(t.GetItem),
		"DynamoDB_20120810.BatchGetItem":       operation(t.BatchGetItem),
		"DynamoDB_20120810.TransactGetItems":   operation(t.TransactGetItems),
		"DynamoDB_20120810.Query":              operation(t.Query),
		"DynamoDB_20120810.Scan":               operation(t.Scan),
		"DynamoDB_20120810.PutItem":            operation(t.PutItem),
		"DynamoDB_20120810.UpdateItem":         operation(t.UpdateItem),
		"DynamoDB_20120810.BatchWriteItem":     operation(t.BatchWriteItem),
		"DynamoDB_20120810.TransactWriteItems": operation(t.TransactWriteItems),
		"AmazonSQS.SendMessageBatch":           s.send,
		"TrentService.Encrypt": func(_ context.Context, body []byte) (any, error) {
			var in struct{ Plaintext jsontext.Value }
			err := json.Unmarshal(body, &in)
			return map[string]any{"CiphertextBlob": in.Plaintext}, err
		},
		"TrentService.Decrypt": func(_ context.Context, body []byte) (any, error) {
			var in struct{ CiphertextBlob jsontext.Value }
			err := json.Unmarshal(body, &in)
			return map[string]any{"Plaintext": in.CiphertextBlob}, err
		},
	}
	return s
}

// operation returns the operation of a table, between JSON.
func operation[In, Out any](call func(context.Context, *In, ...func(*dynamodb.Options)) (*Out, error)) func(context.Context, []byte) (any, error) {
	return func(ctx context.Context, body []byte) (any, error) {
		in := new(In)
		if err := json.Unmarshal(body, in, attributeValues()); err != nil {
			return nil, err
		}
		return call(ctx, in)
	}
}

// ServeHTTP answers one request of the SDK.
func (s *services) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	target := r.Header.Get("X-Amz-Target")
	body, err := io.ReadAll(r.Body)
	var out any
	if call := s.operations[target]; err == nil && call != nil {
		s.mu.Lock()
		s.requests++
		s.mu.Unlock()
		out, err = call(r.Context(), body)
	} else if err == nil {
		err = fmt.Errorf("operation %q has no stub", target)
	}
	status := http.StatusOK
	if err != nil {
		status, out = http.StatusBadRequest, failure(err)
	}
	text, err := json.Marshal(out, attributeValues())
	if err != nil {
		status, text = http.StatusInternalServerError, fmt.Appendf(nil, `{"__type":"InternalServerError","message":%q}`, err)
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.Header().Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(text)), 10)) // the SDK checks it
	w.WriteHeader(status)
	// The SDK closes the connection when the answer comes before its goroutine for writes has
	// seen the end of the request. No service of AWS is that fast.
	time.Sleep(latency)
	_, _ = w.Write(text) // the client sees a short answer
}

// failure returns an error as DynamoDB answers it.
func failure(err error) map[string]any {
	out := map[string]any{"__type": "ValidationException", "message": err.Error()}
	var known smithy.APIError
	if errors.As(err, &known) {
		out["__type"], out["message"] = known.ErrorCode(), known.ErrorMessage()
	}
	var canceled *types.TransactionCanceledException
	if errors.As(err, &canceled) {
		out["CancellationReasons"] = canceled.CancellationReasons
	}
	var condition *types.ConditionalCheckFailedException
	if errors.As(err, &condition) && condition.Item != nil {
		out["Item"] = condition.Item
	}
	return out
}

// send keeps the messages of a SendMessageBatch.
func (s *services) send(_ context.Context, body []byte) (any, error) {
	type entry struct{ Id, MessageBody, MessageGroupId string } //nolint:revive // the names of SQS
	var in struct {
		QueueUrl string //nolint:revive // the name of SQS
		Entries  []entry
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	queue := in.QueueUrl[strings.LastIndexByte(in.QueueUrl, '/')+1:]
	var sent []map[string]string
	for _, e := range in.Entries {
		sum := md5.Sum([]byte(e.MessageBody))
		s.queues[queue] = append(s.queues[queue], message{body: e.MessageBody, group: e.MessageGroupId})
		sent = append(sent, map[string]string{"Id": e.Id, "MessageId": strconv.Itoa(len(s.queues[queue])), "MD5OfMessageBody": hex.EncodeToString(sum[:])})
	}
	return map[string]any{"Successful": sent}, nil
}

// take returns the messages of all queues, by queue, and empties the queues.
func (s *services) take() map[string][]message {
	s.mu.Lock()
	defer s.mu.Unlock()

	taken := s.queues
	s.queues = make(map[string][]message)
	return taken
}

// attributeValues reads and writes attribute values as DynamoDB does. The package json keeps what
// it knows about types with the options.
//
//nolint:gochecknoglobals // a constant
var attributeValues = sync.OnceValue(func() json.Options {
	return json.JoinOptions(
		json.FormatNilMapAsNull(true), json.FormatNilSliceAsNull(true),
		json.WithUnmarshalers(json.UnmarshalFromFunc(readValue)),
		json.WithMarshalers(json.JoinMarshalers(
			json.MarshalToFunc(writeValue),
			json.MarshalToFunc(func(e *jsontext.Encoder, _ middleware.Metadata) error { return e.WriteToken(jsontext.Null) }),
		)),
	)
})

// readValue reads {"S": "text"} and the other kinds.
func readValue(d *jsontext.Decoder, v *types.AttributeValue) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	kind, err := d.ReadToken()
	if err != nil {
		return err
	}
	switch kind.String() {
	case "S":
		*v, err = read(d, func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} })
	case "N":
		*v, err = read(d, func(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} })
	case "B":
		*v, err = read(d, func(b []byte) types.AttributeValue { return &types.AttributeValueMemberB{Value: b} })
	case "BOOL":
		*v, err = read(d, func(b bool) types.AttributeValue { return &types.AttributeValueMemberBOOL{Value: b} })
	case "SS":
		*v, err = read(d, func(s []string) types.AttributeValue { return &types.AttributeValueMemberSS{Value: s} })
	case "NS":
		*v, err = read(d, func(s []string) types.AttributeValue { return &types.AttributeValueMemberNS{Value: s} })
	case "L":
		*v, err = read(d, func(l []types.AttributeValue) types.AttributeValue { return &types.AttributeValueMemberL{Value: l} })
	case "M":
		*v, err = read(d, func(m map[string]types.AttributeValue) types.AttributeValue {
			return &types.AttributeValueMemberM{Value: m}
		})
	default:
		err = fmt.Errorf("%q is not a kind of attribute value", kind.String())
	}
	if err != nil {
		return err
	}
	_, err = d.ReadToken()
	return err
}

func read[T any](d *jsontext.Decoder, member func(T) types.AttributeValue) (types.AttributeValue, error) {
	var value T
	err := json.UnmarshalDecode(d, &value)
	return member(value), err
}

// writeValue is the reverse of readValue.
func writeValue(e *jsontext.Encoder, v types.AttributeValue) error {
	var kind string
	var value any
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		kind, value = "S", v.Value
	case *types.AttributeValueMemberN:
		kind, value = "N", v.Value
	case *types.AttributeValueMemberB:
		kind, value = "B", v.Value
	case *types.AttributeValueMemberBOOL:
		kind, value = "BOOL", v.Value
	case *types.AttributeValueMemberSS:
		kind, value = "SS", v.Value
	case *types.AttributeValueMemberNS:
		kind, value = "NS", v.Value
	case *types.AttributeValueMemberL:
		kind, value = "L", v.Value
	case *types.AttributeValueMemberM:
		kind, value = "M", v.Value
	}
	return json.MarshalEncode(e, map[string]any{kind: value})
}

// count returns the number of requests so far.
func (s *services) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.requests
}
