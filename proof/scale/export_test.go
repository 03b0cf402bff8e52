package scale

// IngestTime is ingestTime, for tests.
var IngestTime = ingestTime
