package strict

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// The limits of SQS.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html
const (
	maxMessage      = 1 << 20 // bytes of a message, and of all messages in a batch
	maxBatch        = 10      // messages
	maxAttributes   = 10      // of a message
	maxDelay        = 900     // seconds
	maxVisibility   = 43_200  // seconds
	maxWait         = 20      // seconds
	maxReceived     = 10      // messages
	entryIDPattern  = `[A-Za-z0-9_-]{1,80}`
	groupPattern    = "[!-~]{1,128}" // letters, digits and punctuation of ASCII
	queueURLPattern = `https?://.+/.+`
)

// attributeRanges are the ranges of queues' numeric attributes.
func attributeRanges() map[string][2]int64 {
	return map[string][2]int64{
		"DelaySeconds":                  {0, maxDelay},
		"MaximumMessageSize":            {1024, maxMessage},
		"MessageRetentionPeriod":        {60, 1_209_600},
		"ReceiveMessageWaitTimeSeconds": {0, maxWait},
		"VisibilityTimeout":             {0, maxVisibility},
	}
}

func checkSQS(c *call) *refusal {
	in := c.input
	if in.has("QueueUrl") && !matches(queueURLPattern, in.text("QueueUrl")) {
		return &refusal{code: "InvalidAddress", message: fmt.Sprintf("The address %s is not valid for this endpoint.", in.text("QueueUrl"))}
	}
	switch c.operation {
	case "SendMessage":
		_, r := checkMessage(in)
		return r
	case "SendMessageBatch":
		return checkBatch(in, true)
	case "DeleteMessageBatch", "ChangeMessageVisibilityBatch":
		return checkBatch(in, false)
	case "ChangeMessageVisibility":
		return inRange(in, "VisibilityTimeout", 0, maxVisibility)
	case "ReceiveMessage":
		return first(
			inRange(in, "MaxNumberOfMessages", 1, maxReceived),
			inRange(in, "WaitTimeSeconds", 0, maxWait),
			inRange(in, "VisibilityTimeout", 0, maxVisibility))
	case "CreateQueue":
		if !matches(`[A-Za-z0-9_-]{1,80}|[A-Za-z0-9_-]{1,75}\.fifo`, in.text("QueueName")) {
			return parameter("QueueName", in.text("QueueName"), "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length")
		}
		return checkQueueAttributes(in.object("Attributes"))
	case "SetQueueAttributes":
		return checkQueueAttributes(in.object("Attributes"))
	}
	return nil
}

func checkQueueAttributes(attributes object) *refusal {
	for name, limits := range attributeRanges() {
		if !attributes.has(name) {
			continue
		}
		n, err := strconv.ParseInt(attributes.text(name), 10, 64)
		if err != nil || n < limits[0] || n > limits[1] {
			return &refusal{code: "InvalidAttributeValue", message: fmt.Sprintf("Invalid value for the parameter %s. Reason: Must be an integer from %d to %d.", name, limits[0], limits[1])}
		}
	}
	return nil
}

// checkMessage checks a message and returns its size: body and attributes, in
// bytes.
func checkMessage(m object) (size int, r *refusal) {
	body := m.text("MessageBody")
	size = len(body)
	attributes := m.object("MessageAttributes")
	for name := range attributes {
		value := attributes.object(name)
		size += len(name) + len(value.text("DataType")) + len(value.text("StringValue")) + blobSize(value["BinaryValue"])
	}
	switch {
	case body == "":
		return size, &refusal{code: "MissingParameter", message: "The request must contain the parameter MessageBody."}
	case !validCharacters(body):
		return size, &refusal{code: "InvalidMessageContents", message: "Invalid characters found. Valid unicode characters are #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF"}
	case size > maxMessage:
		return size, parameter("MessageBody", "too long", fmt.Sprintf("Message must be shorter than %d bytes", maxMessage))
	case len(attributes) > maxAttributes:
		return size, parameter("MessageAttributes", strconv.Itoa(len(attributes)), fmt.Sprintf("Number of message attributes [%d] exceeds the allowed maximum [%d]", len(attributes), maxAttributes))
	case m.has("MessageGroupId") && !matches(groupPattern, m.text("MessageGroupId")):
		return size, parameter("MessageGroupId", m.text("MessageGroupId"), "MessageGroupId can only include alphanumeric and punctuation characters. 1 to 128 in length")
	case m.has("MessageDeduplicationId") && !matches(groupPattern, m.text("MessageDeduplicationId")):
		return size, parameter("MessageDeduplicationId", m.text("MessageDeduplicationId"), "MessageDeduplicationId can only include alphanumeric and punctuation characters. 1 to 128 in length")
	}
	return size, inRange(m, "DelaySeconds", 0, maxDelay)
}

// validCharacters reports whether the text has only characters of XML 1.0.
func validCharacters(text string) bool {
	for _, c := range text {
		switch {
		case c == '\t', c == '\n', c == '\r', c >= 0x20 && c <= 0xD7FF, c >= 0xE000 && c <= 0xFFFD, c >= 0x10000:
		default:
			return false
		}
	}
	return utf8.ValidString(text)
}

// checkBatch checks the entries of a batch: messages, or receipts of messages.
//
// SQS reports a faulty entry in the list of failed entries and takes the
// others. The front refuses the whole batch.
func checkBatch(in object, messages bool) *refusal {
	entries := in.list("Entries")
	switch n := len(entries); {
	case n == 0:
		return &refusal{code: "AWS.SimpleQueueService.EmptyBatchRequest", message: "There should be at least one entry in the request."}
	case n > maxBatch:
		return &refusal{code: "AWS.SimpleQueueService.TooManyEntriesInBatchRequest", message: fmt.Sprintf("Maximum number of entries per request are %d. You have sent %d.", maxBatch, n)}
	}
	total, ids := 0, map[string]bool{}
	for _, e := range entries {
		id := e.text("Id")
		if !matches(entryIDPattern, id) {
			return &refusal{code: "AWS.SimpleQueueService.InvalidBatchEntryId", message: fmt.Sprintf("A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long: %q", id)}
		}
		if ids[id] {
			return &refusal{code: "AWS.SimpleQueueService.BatchEntryIdsNotDistinct", message: fmt.Sprintf("Id %s repeated.", id)}
		}
		ids[id] = true
		if !messages {
			if r := inRange(e, "VisibilityTimeout", 0, maxVisibility); r != nil {
				return r
			}
			continue
		}
		size, r := checkMessage(e)
		if r != nil {
			return r
		}
		total += size
	}
	if total > maxMessage {
		return &refusal{code: "AWS.SimpleQueueService.BatchRequestTooLong", message: fmt.Sprintf("Batch requests cannot be longer than %d bytes. You have sent %d bytes.", maxMessage, total)}
	}
	return nil
}

// inRange checks an optional number.
func inRange(in object, name string, low, high int64) *refusal {
	n, ok := in.number(name)
	if !ok || n >= low && n <= high {
		return nil
	}
	return parameter(name, strconv.FormatInt(n, 10), fmt.Sprintf("Must be >= %d and <= %d, if provided", low, high))
}

func parameter(name, value, reason string) *refusal {
	return &refusal{code: "InvalidParameterValue", message: fmt.Sprintf("Value %s for parameter %s is invalid. Reason: %s.", value, name, reason)}
}

// first returns the first refusal, or nil.
func first(refusals ...*refusal) *refusal {
	for _, r := range refusals {
		if r != nil {
			return r
		}
	}
	return nil
}
