package sns_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/aws/sns"
	"surehook.example/surehook/internal/hook"
)

const arn = "arn:aws:sns:us-east-1:123456789012:operators"

// fakeSNS answers Publish.
type fakeSNS struct {
	status int    // of every answer; 0: success
	code   string // of the error
	asked  []url.Values
}

func (f *fakeSNS) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	form, _ := url.ParseQuery(string(body))
	f.asked = append(f.asked, form)
	if f.status != 0 {
		w.WriteHeader(f.status)
		_, _ = io.WriteString(w, "<ErrorResponse><Error><Type>Sender</Type><Code>"+f.code+"</Code><Message>no</Message></Error></ErrorResponse>")
		return
	}
	_, _ = io.WriteString(w, "<PublishResponse><PublishResult><MessageId>m</MessageId></PublishResult></PublishResponse>")
}

func configOf(url string, client aws.HTTPClient) aws.Config {
	return aws.Config{
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("id", "key", ""),
		BaseEndpoint: aws.String(url),
		HTTPClient:   client,
		Retryer:      func() aws.Retryer { return aws.NopRetryer{} },
	}
}

func setup(t *testing.T) (*sns.Topic, *fakeSNS) {
	t.Helper()

	fake := &fakeSNS{}
	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	return sns.New(configOf(server.URL, server.Client()), arn), fake
}

func TestTopic_Publish_SendsTheMessageWithItsType(t *testing.T) {
	t.Parallel()

	topic, fake := setup(t)
	const message = `{"type":"webhook.endpoint.disabled","reason":"50 % & more – gave up"}`
	if err := topic.Publish(t.Context(), hook.NotificationDisabled, []byte(message)); err != nil {
		t.Fatalf("Publish() = %v; want nil", err)
	}
	want := []url.Values{{
		"Action":                         {"Publish"},
		"Version":                        {"2010-03-31"},
		"TopicArn":                       {arn},
		"Subject":                        {"webhook.endpoint.disabled"},
		"Message":                        {message},
		"MessageAttributes.entry.1.Name": {"type"},
		"MessageAttributes.entry.1.Value.DataType":    {"String"},
		"MessageAttributes.entry.1.Value.StringValue": {"webhook.endpoint.disabled"},
	}}
	if diff := cmp.Diff(want, fake.asked); diff != "" {
		t.Errorf("Publish() sent (-want +got):\n%s", diff)
	}
}

func TestTopic_Publish_TranslatesErrors(t *testing.T) {
	t.Parallel()

	tests := []struct {
		code   string
		status int
		want   hook.Code
	}{
		{code: "Throttling", status: http.StatusBadRequest, want: hook.CodeUnavailable},
		{code: "ThrottledException", status: http.StatusTooManyRequests, want: hook.CodeUnavailable},
		{code: "InternalError", status: http.StatusInternalServerError, want: hook.CodeUnavailable},
		{code: "ServiceUnavailable", status: http.StatusServiceUnavailable, want: hook.CodeUnavailable},
		{code: "AuthorizationError", status: http.StatusForbidden, want: hook.CodeUnavailable},
		{code: "NotFound", status: http.StatusNotFound, want: hook.CodeUnavailable},
		{code: "InvalidParameter", status: http.StatusBadRequest, want: hook.CodeInternal},
	}
	for _, tt := range tests {
		t.Run(tt.code, func(t *testing.T) {
			t.Parallel()

			topic, fake := setup(t)
			fake.status, fake.code = tt.status, tt.code
			err := topic.Publish(t.Context(), hook.NotificationOpened, []byte("{}"))
			if err == nil || hook.CodeOf(err) != tt.want || !strings.Contains(err.Error(), hook.NotificationOpened) || len(fake.asked) != 1 {
				t.Errorf("Publish() = %v (%s) after %d requests; want %s, naming the type, after 1", err, hook.CodeOf(err), len(fake.asked), tt.want)
			}
		})
	}
}

// silent is a client that never gets an answer.
type silent struct{}

func (silent) Do(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestTopic_Publish_GivesUpAfterFiveSeconds(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		topic := sns.New(configOf("https://sns.us-east-1.amazonaws.com", silent{}), arn)
		start := time.Now()
		err := topic.Publish(t.Context(), hook.NotificationOpened, []byte("{}"))
		if waited := time.Since(start); hook.CodeOf(err) != hook.CodeUnavailable || waited != 5*time.Second {
			t.Errorf("Publish(no answer) = %v (%s) after %s; want unavailable after 5s", err, hook.CodeOf(err), waited)
		}
		if err == nil || !strings.Contains(err.Error(), "the topic did not answer: no answer in time") {
			t.Errorf("Publish(no answer) = %v; want an error about the missing answer", err)
		}
	})
}

func TestTopic_Publish_EndedContextIsUnavailable(t *testing.T) {
	t.Parallel()

	topic, _ := setup(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := topic.Publish(ctx, hook.NotificationOpened, []byte("{}")); err == nil || hook.CodeOf(err) != hook.CodeUnavailable {
		t.Errorf("Publish() with an ended context = %v; want unavailable", err)
	}
}
