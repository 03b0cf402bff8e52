package strict

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// checkKMS holds what the model lacks. Lengths, such as the 4,096 bytes of a
// plaintext, are in the model.
func checkKMS(c *call) *refusal {
	switch c.operation {
	case "GenerateDataKey", "GenerateDataKeyWithoutPlaintext":
		if c.input.has("KeySpec") == c.input.has("NumberOfBytes") {
			return &refusal{code: "ValidationException", message: "Please specify either number of bytes or key spec."}
		}
	}
	return nil
}

// The limits of SNS.
// https://docs.aws.amazon.com/sns/latest/api/API_Publish.html
const (
	maxPublished = 256 << 10 // bytes of a message, or of all messages in a batch
	maxSubject   = 100       // characters
)

func checkSNS(c *call) *refusal {
	switch c.operation {
	case "Publish":
		return checkPublish(c.input, len(c.input.text("Message")))
	case "PublishBatch":
		entries, total, ids := c.input.list("PublishBatchRequestEntries"), 0, map[string]bool{}
		if n := len(entries); n == 0 || n > maxBatch {
			return &refusal{code: "TooManyEntriesInBatchRequest", message: fmt.Sprintf("The batch request contains %d entries, not 1 to %d.", n, maxBatch)}
		}
		for _, e := range entries {
			if id := e.text("Id"); ids[id] || !matches(entryIDPattern, id) {
				return &refusal{code: "BatchEntryIdsNotDistinct", message: fmt.Sprintf("The id %q is repeated or invalid.", id)}
			}
			ids[e.text("Id")] = true
			total += len(e.text("Message"))
			if r := checkPublish(e, total); r != nil {
				return r
			}
		}
	}
	return nil
}

func checkPublish(in object, size int) *refusal {
	subject := in.text("Subject")
	switch {
	case in.text("Message") == "":
		return &refusal{code: "InvalidParameter", message: "Invalid parameter: Empty message"}
	case size > maxPublished:
		return &refusal{code: "InvalidParameter", message: fmt.Sprintf("Invalid parameter: Message too long: %d bytes, not at most %d", size, maxPublished)}
	case in.has("Subject") && (len(subject) > maxSubject || !matches(`[!-~][ -~]*`, subject)):
		return &refusal{code: "InvalidParameter", message: fmt.Sprintf("Invalid parameter: Subject must be ASCII text that begins with a letter, number or punctuation mark, without line breaks, of at most %d characters", maxSubject)}
	}
	return nil
}

// blobSize is the number of bytes of a value in base64.
func blobSize(value any) int {
	text, _ := value.(string)
	return base64.StdEncoding.DecodedLen(len(text)) - strings.Count(text, "=")
}
