#ifndef ADMITD_POLICY_MUTE_H
#define ADMITD_POLICY_MUTE_H
/* mute.h - too late */
#endif
