#! /usr/bin/env bash
