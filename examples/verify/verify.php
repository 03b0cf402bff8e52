<?php

$key = base64_decode(preg_replace('/^whsec_/', '', getenv('WEBHOOK_SECRET')));

// The signature covers the exact bytes of the body.
$body = file_get_contents('php://input');
$id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
$time = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
$expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$time.$body", $key, true));

$valid = false;
foreach (explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $signature) { // two while a secret is rotated
    $valid = hash_equals($expected, $signature) || $valid;
}
if (!$valid || abs(time() - (int) $time) > 300) { // or a repeated old request
    http_response_code(401);
    exit;
}

// Store the event, unless you know its webhook-id already. Then answer.
error_log("$id $body");
http_response_code(204);
