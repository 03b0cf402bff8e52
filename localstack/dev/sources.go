package dev

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"surehook.example/surehook/internal/delivery/source"
	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/httpapi"
)

const (
	// EventsQueue is the path of the URL of the events queue.
	EventsQueue = "/000000000000/events"
	// eventsWork is the number of workers of the events queue, each with a batch of ten at a time.
	eventsWork = 4
	// tenantPath is where an event of EventBridge names its tenant, as deployed.
	tenantPath = "detail.tenant"

	sqsTarget     = "AmazonSQS."
	maxSQSRequest = 2 << 20   // bytes, more than the 1 MiB of a batch with the names around
	maxSQSMessage = 272 << 10 // bytes, as deployed
)

// sqsMessage is a message of SendMessage, or one of SendMessageBatch.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html
type sqsMessage struct {
	Id                string //nolint:revive // the name of SQS
	MessageBody       string
	MessageGroupId    string //nolint:revive // the name of SQS
	DelaySeconds      int
	MessageAttributes map[string]struct{ StringValue string }
}

// sqsAnswer is the answer to a message.
type sqsAnswer struct {
	Id               string `json:",omitzero"` //nolint:revive // the name of SQS
	MessageId        string //nolint:revive // the name of SQS
	MD5OfMessageBody string
}

// sqsError is an error of SQS.
type sqsError struct {
	Type    string `json:"__type"`
	Message string `json:"message"`
}

func (e *sqsError) Error() string { return e.Message }

// serveSQS takes the messages that a client of SQS sends to the events queue, with this process as its
// endpoint. It checks no signature: only this machine reaches the process.
func (p *process) serveSQS(w http.ResponseWriter, r *http.Request) {
	answer, err := p.sendToEvents(strings.TrimPrefix(r.Header.Get("X-Amz-Target"), sqsTarget), http.MaxBytesReader(w, r.Body, maxSQSRequest))
	status := http.StatusOK
	if err != nil {
		status, answer = http.StatusBadRequest, err
	}
	text, _ := json.Marshal(answer) // of strings
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client sees a short answer
}

func (p *process) sendToEvents(operation string, body io.Reader) (any, *sqsError) {
	var in struct {
		sqsMessage

		QueueUrl string //nolint:revive // the name of SQS
		Entries  []sqsMessage
	}
	if err := json.UnmarshalRead(body, &in); err != nil {
		return nil, &sqsError{"com.amazon.coral.service#SerializationException", err.Error()}
	}
	if !strings.HasSuffix(in.QueueUrl, EventsQueue) {
		return nil, &sqsError{"com.amazonaws.sqs#QueueDoesNotExist", fmt.Sprintf("the queue %q does not exist: the events queue is %s", in.QueueUrl, EventsQueue)}
	}
	messages := in.Entries
	switch {
	case operation == "SendMessage":
		messages = []sqsMessage{in.sqsMessage}
	case operation != "SendMessageBatch":
		return nil, &sqsError{"com.amazonaws.sqs#UnsupportedOperation", "this queue takes SendMessage and SendMessageBatch, not " + operation}
	case len(messages) == 0 || len(messages) > batch:
		return nil, &sqsError{"com.amazonaws.sqs#TooManyEntriesInBatchRequest", fmt.Sprintf("a batch has 1 to %d entries", batch)}
	}
	if i := slices.IndexFunc(messages, func(m sqsMessage) bool { return len(m.MessageBody) == 0 || len(m.MessageBody) > maxSQSMessage }); i >= 0 {
		return nil, &sqsError{"com.amazonaws.sqs#InvalidMessageContents", fmt.Sprintf("message %d has %d bytes: say 1 to %d", i+1, len(messages[i].MessageBody), maxSQSMessage)}
	}
	answers := make([]sqsAnswer, len(messages))
	for i, m := range messages {
		answers[i] = p.take(m)
	}
	if operation == "SendMessage" {
		return answers[0], nil
	}
	return map[string]any{"Successful": answers, "Failed": []any{}}, nil
}

// take puts the message on the queue.
func (p *process) take(m sqsMessage) sqsAnswer {
	message := source.Message{Body: m.MessageBody, Attributes: make(map[string]string)}
	for _, name := range source.Attributes() {
		if value := m.MessageAttributes[name].StringValue; value != "" {
			message.Attributes[name] = value
		}
	}
	sum := md5.Sum([]byte(m.MessageBody)) // the SDKs compare it
	delay := min(time.Duration(m.DelaySeconds)*time.Second, hook.MaxQueueDelay)
	return sqsAnswer{Id: m.Id, MessageId: p.sources.Send(message, m.MessageGroupId, delay), MD5OfMessageBody: hex.EncodeToString(sum[:])}
}

// newSource returns what accepts the messages of the events queue, as in function ingest.
func (p *process) newSource() *source.Source {
	return &source.Source{
		Reader:   source.Reader{Tenant: tenantPath, Body: httpapi.ReadEvent},
		Acceptor: p.acceptor, Queue: p.sources, Rand: rand.Float64, Metrics: emf.Set{}, Log: p.log, Now: p.clock.Now,
	}
}

// acceptEvents processes the next batch of the events queue.
func (p *process) acceptEvents(ctx context.Context) {
	received := p.sources.Await(ctx, batch)
	if len(received) == 0 {
		return
	}
	messages := make([]source.Message, len(received))
	for i, m := range received {
		messages[i] = m.Message
	}
	ctx, cancel := invoked(ctx)
	defer cancel()
	failed := p.source.ProcessBatch(ctx, messages)
	for _, m := range received {
		end(p.sources, m.ID, m.ReceiveCount, slices.Contains(failed, m.ID))
	}
}
