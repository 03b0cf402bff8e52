package strict

import (
	"encoding/json"
	"encoding/xml"
	"net/http"
)

// refusal is an error answer of a service.
type refusal struct {
	code    string
	message string
	status  int // 0: 400
}

// write answers like the service.
func (r *refusal) write(w http.ResponseWriter, m *model) {
	status := r.status
	if status == 0 {
		status = http.StatusBadRequest
	}
	w.Header().Set("X-Amzn-RequestId", "strict")
	switch m.Metadata.Protocol {
	case "query":
		r.writeXML(w, status, m.Metadata.XMLNamespace)
		return
	case "rest-json":
		w.Header().Set("X-Amzn-ErrorType", r.code)
		w.Header().Set("Content-Type", "application/json")
	default:
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		// Services with an earlier query protocol, such as SQS, repeat the code.
		w.Header().Set("X-Amzn-Query-Error", r.code+";Sender")
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"__type": r.code, "message": r.message}) //nolint:errchkjson // a failed answer has no remedy
}

func (r *refusal) writeXML(w http.ResponseWriter, status int, namespace string) {
	type fault struct {
		Type    string `xml:"Type"`
		Code    string `xml:"Code"`
		Message string `xml:"Message"`
	}
	w.Header().Set("Content-Type", "text/xml")
	w.WriteHeader(status)
	_ = xml.NewEncoder(w).Encode(struct { // a failed answer has no remedy
		XMLName   xml.Name `xml:"ErrorResponse"`
		Namespace string   `xml:"xmlns,attr"`
		Error     fault    `xml:"Error"`
		RequestID string   `xml:"RequestId"`
	}{Namespace: namespace, Error: fault{Type: "Sender", Code: r.code, Message: r.message}, RequestID: "strict"})
}
